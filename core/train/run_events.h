// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/train/phase_clock.h"
#include "core/train/run_clock.h"
#include "core/train/run_control.h"
#include "core/train/run_job.h"
#include "core/train/trainer.h"
#include "kernels/base/error.h"

namespace lorikeet {

/// What a run says: lines in events.jsonl, and the same to whoever called run_job. Everything it writes waits
/// for a disk that is full or gone, with everything in memory.
class RunEvents {
 public:
  RunEvents(RunFolder& folder, const RunJobOptions& options, RunControl& control, RunClock& clock)
      : folder_(folder), options_(options), control_(control), clock_(clock) {}

  RunState state() const { return state_; }
  void state(RunState state, const std::string& why = {});
  /// `more` are further fields of the line.
  void state(RunState state, const std::string& why, const Json& more);
  void append(const Json& event) {
    with_patience([&] { folder_.append(event); });
  }
  /// A warning; `step` 0 = none.
  void warning(const char* code, const std::string& what, std::int64_t step = 0);
  /// A step with what it has to warn of; `seconds` is what it took.
  void step(const StepReport& report, std::int64_t tokens_seen, std::int64_t memory_bytes, double seconds);
  void evaluation(const EvalEvent& event);
  PhaseClock& phases() { return phases_; }
  void error(const Error& error);  ///< without patience: the run ends here

  /// Runs something that writes; when the disk is full or gone it waits and tries again. Throws
  /// Error(cancelled) on a stop request.
  void with_patience(const std::function<void()>& action);

  /// What a run that goes on has said once and for all.
  void take_history(const RunHistory& history);
  /// For whoever shows the run; 0 = not known.
  void set_seconds_left(double seconds) { seconds_left_ = seconds; }
  /// The same as a line of the state as it is.
  void time_left(double seconds);

  void set_steps(std::int64_t total, std::int64_t finished) {
    total_steps_ = total;
    finished_steps_ = finished;
  }

 private:
  void wait_for_disk(const std::string& why);
  void show(const StepEvent* step = nullptr, const EvalEvent* evaluation = nullptr,
            const WarningEvent* warning = nullptr);
  void warn(const StepReport& report);
  void tell_of_scale_search(const StepReport& report);

  RunFolder& folder_;
  const RunJobOptions& options_;
  RunControl& control_;
  RunClock& clock_;
  PhaseClock phases_{std::chrono::steady_clock::now()};
  RunState state_ = RunState::loading;
  std::string why_;
  std::int64_t total_steps_ = 0, finished_steps_ = 0;
  bool warned_of_scale_ = false, told_of_scale_search_ = false;
  double seconds_left_ = 0;
};

}  // namespace lorikeet
