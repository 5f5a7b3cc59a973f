// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/train/coach_words.h"
#include "core/train/run_folder.h"

namespace lorikeet {

/// What can be wrong with a training run. Where several hold, the one that explains the others is said first.
enum class Trouble : std::uint8_t {
  not_finite,     ///< NaN or infinity in losses or gradients
  masked_out,     ///< nearly no token is trained
  divergence,     ///< the loss goes up and stays up
  rate_too_high,  ///< the loss jumps, or steps are large beside the weights
  overfitting,    ///< the evaluation loss rises while the training loss falls
  rate_too_low,   ///< the weights can hardly move
  plateau,        ///< no progress for long, with much of the run to come
};
const char* to_string(Trouble trouble);

/// One thing the coach says, in plain words.
struct Advice {
  Trouble trouble = Trouble::plateau;
  std::int64_t step = 0;         ///< where it shows
  Phrase what;                   ///< one sentence
  std::vector<Phrase> evidence;  ///< the numbers it rests on, parts of one sentence
  Phrase suggestion;             ///< what to do next
  /// Settings of a next run that follow the suggestion: key and value as set_setting takes them.
  std::vector<std::pair<std::string, std::string>> settings;
};

/// Reads a run's history as it is so far and names what is wrong with it; empty when nothing is. Pure
/// function of its arguments, cheap enough to be called at every redraw (linear in the number of steps). Loss
/// is judged in windows whose medians are compared against the noise of single steps, so one odd batch says
/// nothing.
std::vector<Advice> coach(const RunHistory& history, const Settings& settings);

}  // namespace lorikeet
