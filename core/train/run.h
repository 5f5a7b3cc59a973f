// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <memory>

#include "core/model/lora_adapter.h"
#include "core/train/prepare.h"
#include "core/train/run_clock.h"
#include "core/train/run_control.h"
#include "core/train/run_events.h"
#include "core/train/run_job.h"
#include "core/train/sample_prompts.h"
#include "core/train/trainer.h"

namespace lorikeet {

/// One run from loading to its end. One file per concern: run_job.cpp has the order of things, run_steps.cpp
/// the loop with pauses and checkpoints, run_evaluation.cpp evaluation and samples; run_events.h is what is
/// said, run_clock.h the times.
class Run {
 public:
  Run(RunFolder& folder, const RunJobOptions& options)
      : folder_(folder), options_(options), control_(folder, options.stop) {}

  RunEnd execute();

 private:
  // run_job.cpp
  void load();
  void record_job();
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
  void wait_while_paused();
  /// Takes requests of control/; throws Error(cancelled) on a stop request.
  std::function<void()> between();

  // run_evaluation.cpp
  void evaluate();
  void note_best(std::int64_t step, double loss);

  RunFolder& folder_;
  const RunJobOptions& options_;
  RunControl control_;
  RunClock clock_;
  RunEvents events_{folder_, options_, control_, clock_};
  Job job_;
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
  std::int64_t best_step_ = 0;
  double best_loss_ = INFINITY;
  bool known_evaluation_ = false;  ///< of step 0, by an engine that was killed before its first checkpoint
  std::size_t known_samples_ = 0;
};

}  // namespace lorikeet
