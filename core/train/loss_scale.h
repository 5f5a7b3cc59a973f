// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace lorikeet {

/// Dynamic loss scaling of f16 training (Micikevicius et al. 2018): gradients are computed as multiples of a
/// power of two, so that small ones do not vanish; it is halved when a step was not finite and doubled after
/// 2,000 good ones in a row. The scale of step k rests on the outcomes of steps up to k - 2, whether or not
/// step k is begun before step k - 1 is finished: runs do not depend on how far the host looks ahead.
class LossScale {
 public:
  struct State {
    double scale = 65536;
    std::int64_t good_steps = 0;  ///< since the last change
    friend bool operator==(const State&, const State&) = default;
  };
  static constexpr double smallest = 0x1p-14, largest = 0x1p24;
  static constexpr std::int64_t patience = 2000;

  /// Scale of a step; steps up to the one before it, or the one before that, are finished.
  double of_step(std::int64_t step) const { return step > finished_ + 1 ? now_.scale : before_.scale; }
  void finish(std::int64_t step, double used, bool skipped) {
    finished_ = step;
    before_ = now_;
    if (skipped) {
      // A step begun before this outcome was known fails with the same scale; that is one lesson, not two.
      now_ = {std::max(smallest, std::min(now_.scale, used / 2)), 0};
    } else if (++now_.good_steps >= patience) {
      now_ = {std::min(largest, now_.scale * 2), 0};
    }
  }

  const State& now() const { return now_; }
  const State& before() const { return before_; }
  void restore(std::int64_t finished, State now, State before) {
    finished_ = finished;
    now_ = now;
    before_ = before;
  }

 private:
  std::int64_t finished_ = 0;
  State now_, before_;  ///< after the outcomes of steps up to finished_, and up to the one before it
};

}  // namespace lorikeet
