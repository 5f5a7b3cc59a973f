// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

/// Everything the coach can say. Kept apart from the figures in it, so that the studio can say it in another
/// language.
enum class Says : std::uint8_t {
  loss_not_finite,
  adapter_lost,
  steps_skipped,
  last_in_rows,
  lost_after,
  loss_of_step_not_finite,
  use_wider_numbers,
  look_at_rows,
  go_back_with_lower_rate,
  masked_out,
  tokens_trained,
  steps_without_tokens,
  see_token_view,
  diverges,
  loss_from_to,
  rate_reached,
  lower_rate,
  overshoots,
  loss_jumped,
  start_and_now,
  step_changes_adapter,
  rate_is,
  by_heart,
  evaluation_from_to,
  training_from_to,
  take_checkpoint,
  hardly_moved,
  rates_add_up,
  raise_rate,
  stands_still,
  kept_around,
  steps_done,
  stop_or_change,
  count  ///< how many there are
};

/// English text with places %1, %2, ...
const char* coach_text(Says says);

/// A sentence or a part of one with its figures.
struct Phrase {
  Says says = Says::count;
  std::vector<std::string> values;  ///< for %1, %2, ...; numbers in English digits

  std::string english() const;
};

/// Parts of a sentence joined by semicolons, with a full stop.
std::string english(const std::vector<Phrase>& parts);

}  // namespace lorikeet
