// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

namespace lorikeet {

/// Follows the evaluation losses of a run: which was the lowest, and how many brought no gain since. The
/// evaluation before the first step has to be beaten like any other, but there is nothing to keep of it.
class EvaluationWatch {
 public:
  /// In the order of the steps; `loss` is finite. True when it is the lowest since training began.
  bool note(std::int64_t step, double loss) {
    without_gain_ = loss < lowest_ || !any_ ? 0 : without_gain_ + 1;
    if (step == 0) start_ = loss;
    any_ = true;
    lowest_ = std::fmin(lowest_, loss);
    if (step == 0 || !(loss < best_loss_)) return false;
    best_loss_ = loss;
    best_step_ = step;
    return true;
  }

  std::int64_t best_step() const { return best_step_; }  ///< 0 = none yet
  double best_loss() const { return best_loss_; }        ///< infinite when there is none yet
  /// Evaluations in a row, up to the last, that were not below the lowest before them.
  std::int64_t without_gain() const { return without_gain_; }
  /// Whether `limit` of them end the run; 0 = never.
  bool stops(std::int64_t limit) const { return limit > 0 && without_gain_ >= limit; }
  /// Training has made no evaluation better than it was before the first step.
  bool never_beat_the_start() const { return best_step_ > 0 && best_loss_ >= start_; }

 private:
  bool any_ = false;
  double start_ = INFINITY, lowest_ = INFINITY, best_loss_ = INFINITY;
  std::int64_t best_step_ = 0, without_gain_ = 0;
};

}  // namespace lorikeet
