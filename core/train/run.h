// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "core/model/lora_adapter.h"
#include "core/train/continued.h"
#include "core/train/evaluation_watch.h"
#include "core/train/gradient_check.h"
#include "core/train/non_finite_guard.h"
#include "core/train/prepare.h"
#include "core/train/run_clock.h"
#include "core/train/run_control.h"
#include "core/train/run_events.h"
#include "core/train/run_job.h"
#include "core/train/sample_prompts.h"
#include "core/train/time_estimate.h"
#include "core/train/trainer.h"

namespace lorikeet {

/// One run from loading to its end. One file per concern: run_job.cpp has the order of things, run_steps.cpp
/// the loop with pauses and checkpoints, run_evaluation.cpp evaluation, samples and the best of them,
/// run_memory.cpp what is done where memory is refused, run_guard.cpp what happens when numbers are not as
/// they should be, run_rehearsal.cpp the rehearsal and the time that is left; run_events.h is what is said,
/// run_clock.h the times.
class Run {
 public:
  Run(RunFolder& folder, const RunJobOptions& options)
      : folder_(folder), options_(options), control_(folder, options.stop) {}

  RunEnd execute();

 private:
  // run_job.cpp
  void load();
  void record_job();
  void start_fresh_adapter();
  void start_or_restore();
  void restore();
  RunEnd train();
  void finish(const std::string& why);

  // run_steps.cpp
  void one_step();
  bool may_look_ahead() const;
  void report_step(const StepReport& report);
  void after_step(bool last);
  void checkpoint();
  void wait_while_paused(const std::string& why);
  /// Takes requests of control/; throws Error(cancelled) on a stop request.
  std::function<void()> between();

  // run_memory.cpp
  /// Does some of a step; where memory is refused, again with less of it.
  void with_less_memory(const std::function<void()>& work);
  void take_less_memory(const std::string& why);
  void say_less_memory(const StepShapeChange& change, const std::string& why);
  void recall_less_memory(std::int64_t from_step);
  // run_rehearsal.cpp
  bool rehearses() const;
  void rehearse();
  /// Says how long the rest will take, at a step that calls for it.
  void say_time_left();

  // run_evaluation.cpp
  bool evaluation_is_due() const;
  /// Evaluates and answers the sample prompts; true when this was the best evaluation so far. What fails is
  /// said, and the run goes on.
  bool evaluate();
  void recall_evaluations(const RunHistory& history, bool was_done);
  std::string best_checkpoint() const;
  /// The adapter of the best evaluation, beside the last one; "" when there is none to keep.
  std::string write_best();
  bool go_on_after(const char* code, const std::string& what, const std::function<void()>& action);

  // run_guard.cpp
  void guard(const StepReport& report);
  void wait_and_go_back();
  bool go_back();

  RunFolder& folder_;
  const RunJobOptions& options_;
  RunControl control_;
  RunClock clock_;
  RunEvents events_{folder_, options_, control_, clock_};
  Job job_;
  Continued from_;
  ModelSpec spec_;
  PreparedData data_;
  Plan plan_;
  std::unique_ptr<Backend> backend_;
  DType compute_ = DType::f32;
  std::unique_ptr<BaseModel> model_;
  std::unique_ptr<LoraAdapter> adapter_;
  std::unique_ptr<Trainer> trainer_;
  std::unique_ptr<SamplePrompts> samples_;
  AdapterNotes notes_;
  double elapsed_before_ = 0;  ///< of earlier parts of a resumed run
  TimeEstimate time_;
  bool time_is_settled_ = false;
  EvaluationWatch watch_;
  bool was_done_ = false;  ///< a resumed run had ended: whoever resumes it wants it to go on
  bool stops_early_ = false;
  // At the step that a resumed run begins at: what an engine before this one has said of it.
  bool known_evaluation_ = false, evaluation_missing_ = false;
  std::size_t known_samples_ = 0;
  std::unique_ptr<GradientCheck> gradient_check_;  ///< null once it has nothing more to look at
  NonFiniteGuard guard_;
  NonFiniteGuard::Verdict verdict_ = NonFiniteGuard::Verdict::go_on;
};

}  // namespace lorikeet
