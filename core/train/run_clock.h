// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace lorikeet {

/// The times a run reports. Only work counts: while it is paused or waits for the disk, no time passes. A
/// step that the device was given before something else was done in between cannot be told from that; it is
/// said to have taken as long as the steps before it.
class RunClock {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// The run's steps begin; `seconds_before` were worked in earlier parts of a resumed run.
  void start(Time now, double seconds_before) {
    start_ = now;
    seconds_before_ = seconds_before;
  }
  void begin_step(Time now) {
    step_start_ = now;
    measurable_ = true;
  }
  /// Seconds of the step that ends; the next one is taken to begin here, in case the device has it already.
  double end_step(Time now) {
    const bool measured = measurable_ || smoothed_ == 0;
    const double seconds = measured ? between(step_start_, now) : smoothed_;
    if (measured) smoothed_ = smoothed_ == 0 ? seconds : 0.8 * smoothed_ + 0.2 * seconds;
    begin_step(now);
    return seconds;
  }
  /// Something else than steps was done: what has been begun of the next one cannot be measured.
  void interrupt() { measurable_ = false; }
  /// No work was done from `left` on.
  void was_away(Time left, Time now) {
    start_ += now - left;
    step_start_ += now - left;
    interrupt();
  }

  double elapsed_seconds(Time now) const { return seconds_before_ + between(start_, now); }
  double step_seconds() const { return smoothed_; }  ///< of the last steps, smoothed; 0 = not known yet

 private:
  static double between(Time from, Time to) { return std::chrono::duration<double>(to - from).count(); }

  Time start_{}, step_start_{};
  double seconds_before_ = 0, smoothed_ = 0;
  bool measurable_ = false;
};

}  // namespace lorikeet
