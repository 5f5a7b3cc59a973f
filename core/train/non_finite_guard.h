// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "core/train/trainer.h"

namespace lorikeet {

/// Decides what a run does about values that are not finite. One step whose loss or gradient is not finite
/// has changed nothing and is passed over; several in a row, or weights that are not finite, need a person.
class NonFiniteGuard {
 public:
  static constexpr std::int64_t most_in_a_row = 3;
  enum class Verdict : std::uint8_t {
    go_on,
    pause,        ///< too many skipped steps in a row; the weights are as good as before them
    weights_lost  ///< the adapter itself is not finite: only an earlier checkpoint can be used
  };

  Verdict judge(const StepReport& report);
  /// Why the last verdict was not go_on: a sentence naming step and rows, and what can be done.
  const std::string& why() const { return why_; }

 private:
  std::int64_t in_a_row_ = 0;
  std::string why_;
};

/// "3, 17, 4": rows of a step as a person counts them in the file.
std::string rows_text(const StepReport& report);

}  // namespace lorikeet
