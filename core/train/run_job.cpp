// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "core/library/base_id.h"
#include "core/library/library.h"
#include "core/model/check_model.h"
#include "core/model/compute_choice.h"
#include "core/model/weight_source.h"
#include "core/train/adapter_settings.h"
#include "core/train/checkpoint.h"
#include "core/train/prepare.h"
#include "core/train/process_memory.h"
#include "core/train/run_control.h"
#include "core/train/run_record.h"
#include "core/train/sample_prompts.h"
#include "core/train/trainer.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// One run from loading to its end; the pieces below share its members.
class Run {
 public:
  Run(RunFolder& folder, const RunJobOptions& options)
      : folder_(folder), options_(options), control_(folder, options.stop) {}

  RunEnd execute();

 private:
  void load();
  void record_job();
  void start_or_restore();
  RunEnd train();
  void one_step();
  bool may_look_ahead() const;
  void report_step(const StepReport& report, double seconds);
  void warn(const StepReport& report);
  void after_step(bool last);
  void evaluate();
  void checkpoint();
  void wait_while_paused();
  void finish(const std::string& why);

  void say_state(RunState state, const std::string& why = {});
  void append(const Json& event) {
    with_patience([&] { folder_.append(event); });
  }
  void show(const StepEvent* step = nullptr, const EvalEvent* evaluation = nullptr);
  /// Runs something that writes; when the disk is full or gone it waits, with everything in memory, and tries
  /// again.
  void with_patience(const std::function<void()>& action);
  std::function<void()> between();

  RunFolder& folder_;
  const RunJobOptions& options_;
  RunControl control_;
  RunState state_ = RunState::loading;
  std::string why_;
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
  Clock::time_point started_;
  std::int64_t first_step_ = 0;
  double step_seconds_ = 0;  ///< smoothed
  Clock::time_point step_start_;
  bool warned_of_scale_ = false;
  std::int64_t best_step_ = 0;
  double best_loss_ = INFINITY;
  std::int64_t skipped_in_a_row_ = 0;
  bool known_evaluation_ = false;  ///< of step 0, by an engine that was killed before its first checkpoint
  std::size_t known_samples_ = 0;
};

void Run::show(const StepEvent* step, const EvalEvent* evaluation) {
  if (!options_.progress) return;
  RunProgress progress{state_, why_, plan_.steps, step, evaluation, 0};
  if (trainer_ && step_seconds_ > 0) {
    progress.seconds_left =
        step_seconds_ * static_cast<double>(trainer_->total_steps() - trainer_->step_number());
  }
  options_.progress(progress);
}

void Run::say_state(RunState state, const std::string& why) {
  state_ = state;
  why_ = why;
  Json event = {{"type", "state"}, {"state", to_string(state)}};
  if (!why.empty()) event["why"] = why;
  if (plan_.steps > 0) event["total_steps"] = plan_.steps;
  append(event);
  show();
}

std::function<void()> Run::between() {
  return [this] {
    const auto request = control_.poll();
    if (!request) return;
    switch (*request) {
      case ControlRequest::pause:
        say_state(RunState::pausing, "Pauses after this step");
        break;
      case ControlRequest::checkpoint:
        say_state(state_, "A checkpoint follows this step");
        break;
      case ControlRequest::resume:
        say_state(state_);
        break;
      case ControlRequest::stop:
        say_state(RunState::stopping, "Stops now and keeps the finished steps");
        throw Error(ErrorCode::cancelled, "The run was stopped");
    }
  };
}

void Run::with_patience(const std::function<void()>& action) {
  for (;;) {
    try {
      return action();
    } catch (const Error& error) {
      if (error.code() != ErrorCode::disk_full && error.code() != ErrorCode::io &&
          error.code() != ErrorCode::not_found)
        throw;
      const RunState before = std::exchange(state_, RunState::waiting);
      why_ = error.what();
      show();
      try {
        folder_.append({{"type", "state"}, {"state", to_string(state_)}, {"why", why_}});
      } catch (const Error&) {
        // The same full disk takes no event either; the terminal has been told above.
      }
      control_.wait_for_retry();  // throws Error(cancelled) on a stop request
      state_ = before;
      why_.clear();
    }
  }
}

void Run::load() {
  say_state(RunState::loading, "Reads the data");
  job_ = folder_.read_job();
  spec_ = read_model_spec(job_.model_path);
  // A broken model or adapter is said before minutes are spent on the data.
  require_complete_model(spec_, *open_weight_source(job_.model_path));
  if (!job_.adapter_path.empty()) check_carried(spec_, job_.adapter_path, job_.settings);
  backend_ = make_backend_for(job_.settings);
  compute_ = resolved_compute(job_.settings, *backend_);
  data_ = prepare_data(job_.model_path, spec_, job_.data_path, job_.adapter_path, job_.settings,
                       options_.stop, [&](std::int64_t) { between()(); });
  plan_ = make_plan(spec_, data_.shape, job_.settings, plan_device(*backend_, compute_));
  if (!plan_.fits) {
    throw Error(ErrorCode::out_of_memory, "The run does not fit: " + plan_.why_not, "memory-limit",
                "Lower batch-size or max-length, or take a smaller model");
  }
  record_job();
  say_state(RunState::loading, "Loads the base model");
  model_ = std::make_unique<BaseModel>(load_base_model(*backend_, job_.model_path, spec_, job_.settings,
                                                       compute_, options_.stop,
                                                       [&](std::uint64_t, std::uint64_t) { between()(); }));
  adapter_ = std::make_unique<LoraAdapter>(job_.adapter_path.empty()
                                               ? LoraAdapter::create(*backend_, spec_, job_.settings)
                                               : LoraAdapter::load(*backend_, spec_, job_.adapter_path));
}

void Run::record_job() {
  const RunIdentity identity{base_id(job_.model_path, options_.library_home), data_.source.sha256,
                             data_.format->template_hash()};
  const auto machine = describe_machine(backend_->device(), compute_, job_.settings);
  if (options_.resume) {
    require_unchanged(job_, identity, folder_.path());
    if (!job_.machine.empty() && !same_machine(job_.machine, machine)) {
      append({{"type", "warning"},
              {"code", "machine_changed"},
              {"what",
               "The run goes on with another processor, instruction set, compute type or number of threads: "
               "numbers may differ in the last digits"}});
    }
  } else {
    for (const auto& warning : plan_.warnings)
      append({{"type", "warning"}, {"code", "plan"}, {"what", warning}});
  }
  job_.base_id = identity.base_id;
  job_.base_name = spec_.name;
  job_.data_sha256 = identity.data_sha256;
  job_.template_hash = identity.template_hash;
  job_.engine_version = options_.engine_version;
  job_.machine = machine;
  folder_.write_job(job_);
  notes_ = make_notes(job_, *data_.format, folder_.path(), rope_linear_factor(spec_, plan_.max_length));
}

void Run::start_or_restore() {
  Trainer::Parts parts;
  parts.model = model_.get();
  parts.adapter = adapter_.get();
  parts.train_rows = &data_.train;
  parts.evaluation_rows = &data_.evaluation;
  parts.settings = job_.settings;
  parts.plan = plan_;
  parts.compute = compute_;
  parts.rope_linear_factor = notes_.rope_linear_factor;
  trainer_ = std::make_unique<Trainer>(std::move(parts));
  samples_ = std::make_unique<SamplePrompts>(*model_, *adapter_, *data_.format, job_.settings.sample_prompts,
                                             compute_, notes_.rope_linear_factor);
  if (!options_.resume) return;
  const std::string newest = newest_checkpoint(folder_);
  if (!newest.empty()) trainer_->restore(newest);
  first_step_ = trainer_->step_number();
  append({{"type", "resume"}, {"from_step", first_step_}});
  const RunHistory history = folder_.read_history();
  if (!history.steps.empty()) elapsed_before_ = history.steps.back().elapsed_seconds;
  // Killed between a checkpoint and its event, or after the evaluation before the first step: nothing is said
  // twice and nothing is left out.
  if (!newest.empty() && (history.checkpoints.empty() || history.checkpoints.back().step != first_step_)) {
    append({{"type", "checkpoint"},
            {"step", first_step_},
            {"path", "checkpoints/step-" + std::to_string(first_step_)}});
  }
  if (first_step_ == 0) {
    known_evaluation_ = !history.evaluations.empty();
    known_samples_ = history.samples.size();
  }
  for (const auto& evaluation : history.evaluations) {
    if (evaluation.loss < best_loss_) {
      best_loss_ = evaluation.loss;
      best_step_ = evaluation.step;
    }
  }
}

/// Nothing but steps comes after the next one, as far as is known.
bool Run::may_look_ahead() const {
  const std::int64_t step = trainer_->step_number() + 1;
  return backend_->asynchronous() && step % plan_.eval_every != 0 && step % plan_.save_every != 0 &&
         !control_.pause_requested() && !control_.checkpoint_requested();
}

void Run::one_step() {
  if (!trainer_->begun()) {
    step_start_ = Clock::now();
    trainer_->begin_step(between());
  }
  const StepReport report = trainer_->finish_step(between(), may_look_ahead());
  report_step(report, seconds_since(step_start_));
}

void Run::report_step(const StepReport& report, double seconds) {
  step_start_ = Clock::now();  // of the next one, where it has begun already
  step_seconds_ = step_seconds_ == 0 ? seconds : 0.8 * step_seconds_ + 0.2 * seconds;
  // Where the device has memory of its own, that is what a run is short of.
  const auto memory = backend_->device().kind == "cpu"
                          ? anonymous_bytes()
                          : static_cast<std::int64_t>(backend_->budget().used_bytes());
  StepEvent event{report.step,
                  report.epoch,
                  report.loss,
                  report.learning_rate,
                  report.grad_norm,
                  trainer_->tokens_seen(),
                  report.trained_tokens,
                  static_cast<double>(report.tokens) / seconds,
                  memory,
                  elapsed_before_ + seconds_since(started_)};
  warn(report);
  append(event_line(event));
  show(&event);
}

void Run::warn(const StepReport& report) {
  if (report.loss_scale < 1 && !std::exchange(warned_of_scale_, true)) {
    append({{"type", "warning"},
            {"code", "loss_scale"},
            {"step", report.step},
            {"what",
             "The loss scale fell below 1: the numbers of this run do not fit f16; compute f32 has room "
             "for them"}});
  }
  if (!report.skipped) {
    skipped_in_a_row_ = 0;
    return;
  }
  std::string rows;
  for (const std::int64_t row : report.rows) rows += (rows.empty() ? "" : ", ") + std::to_string(row);
  append({{"type", "warning"},
          {"code", "skipped_step"},
          {"step", report.step},
          {"what", "Step " + std::to_string(report.step) +
                       " gave a value that is not finite and was skipped; rows " + rows}});
  // In f16 a scaled gradient that is too large is how the right scale is found.
  if (report.loss_scale > 1 && std::isfinite(report.loss)) return;
  if (++skipped_in_a_row_ >= 3) {
    throw Error(ErrorCode::numeric, "Three steps in a row gave values that are not finite", "rows " + rows,
                "Lower learning-rate, or look at these rows");
  }
}

void Run::evaluate() {
  const std::int64_t step = trainer_->step_number();
  if (!data_.evaluation.empty() && !std::exchange(known_evaluation_, false)) {
    say_state(RunState::evaluating);
    const Evaluation result = trainer_->evaluate(between());
    const EvalEvent event{step, result.loss, result.perplexity, result.accuracy, result.tokens};
    append(event_line(event));
    if (event.loss < best_loss_) {
      best_loss_ = event.loss;
      best_step_ = step;
    }
    show(nullptr, &event);
  }
  samples_->answer(std::exchange(known_samples_, 0), between(),
                   [&](const std::string& prompt, const std::string& answer) {
                     append({{"type", "sample"}, {"step", step}, {"prompt", prompt}, {"answer", answer}});
                   });
  if (!data_.evaluation.empty()) say_state(RunState::training);
}

void Run::checkpoint() {
  const std::int64_t step = trainer_->step_number();
  const std::string path = folder_.checkpoint_path(step);
  with_patience([&] {
    folder_.sync_events();
    trainer_->save(path, notes_);
    verify_checkpoint(path);  // the old one goes only after the new one was read back
    folder_.append(
        {{"type", "checkpoint"}, {"step", step}, {"path", "checkpoints/step-" + std::to_string(step)}});
    remove_old_checkpoints(folder_, job_.settings.keep_checkpoints, path);
  });
}

void Run::wait_while_paused() {
  say_state(RunState::paused, "Paused after step " + std::to_string(trainer_->step_number()));
  control_.wait_while_paused();  // throws Error(cancelled) on a stop request
  say_state(RunState::training);
}

void Run::after_step(bool last) {
  const std::int64_t step = trainer_->step_number();
  if (last || step % plan_.eval_every == 0) evaluate();
  const bool wanted = control_.take_checkpoint_request();
  if (wanted || control_.pause_requested() || last || step % plan_.save_every == 0) checkpoint();
  if (control_.pause_requested() && !last) wait_while_paused();
}

RunEnd Run::train() {
  started_ = Clock::now();
  say_state(RunState::training);
  try {
    if (trainer_->step_number() == 0) evaluate();
    while (!trainer_->finished()) {
      one_step();
      after_step(trainer_->finished());
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) throw;
    // A step whose update the device has is finished; one that is only begun has not happened.
    if (trainer_->in_flight()) report_step(trainer_->finish_step(), seconds_since(step_start_));
    trainer_->drop_step();
    const std::int64_t step = trainer_->step_number();
    if (state_ != RunState::stopping) say_state(RunState::stopping, "Stops now and keeps the finished steps");
    if (step > 0) checkpoint();
    finish("Stopped after step " + std::to_string(step) + " of " + std::to_string(plan_.steps));
    return RunEnd::stopped;
  }
  finish({});
  return RunEnd::done;
}

void Run::finish(const std::string& why) {
  if (trainer_->step_number() > 0) {
    with_patience([&] { adapter_->save(*backend_, folder_.adapter_path(), notes_); });
    append({{"type", "done"}, {"adapter", "adapter"}, {"best_step", best_step_}});
    if (!options_.library_home.empty()) {
      try {
        Library library(options_.library_home);
        register_run(library, folder_.path());
      } catch (const Error& error) {
        // The adapter is safe in its folder; a library that cannot be written must not make the run fail.
        append({{"type", "warning"}, {"code", "library"}, {"what", error.what()}});
      }
    }
  }
  say_state(RunState::done, why);
  folder_.sync_events();
}

RunEnd Run::execute() {
  folder_.lock();
  if (options_.resume) folder_.cut_torn_line();
  control_.forget_old_requests();
  try {
    load();
    start_or_restore();
    return train();
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) {  // before the first step: there is nothing to keep
      say_state(RunState::done, "Stopped while loading");
      return RunEnd::stopped;
    }
    folder_.append({{"type", "error"},
                    {"code", to_string(error.code())},
                    {"what", error.message()},
                    {"where", error.where()},
                    {"hint", error.hint()}});
    say_state(RunState::failed, error.message());
    throw;
  }
}

}  // namespace

RunEnd run_job(RunFolder& run, const RunJobOptions& options) {
  return Run(run, options).execute();
}

}  // namespace lorikeet
