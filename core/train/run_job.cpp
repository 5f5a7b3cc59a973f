// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_job.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <nlohmann/json.hpp>

#include "core/library/base_id.h"
#include "core/library/library.h"
#include "core/model/adapter_start.h"
#include "core/model/compute_choice.h"
#include "core/model/weight_source.h"
#include "core/train/check_job.h"
#include "core/train/checkpoint.h"
#include "core/train/process_memory.h"
#include "core/train/run.h"
#include "core/train/run_record.h"
#include "core/train/start_checks.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Measurements of the adapter's norms over a run: columns of a picture.
constexpr std::int64_t most_norms = 200;

}  // namespace

void Run::load() {
  events_.state(RunState::loading, "Reads the data");
  job_ = folder_.read_job();
  for (const auto& [key, text] : options_.machine_settings) set_setting(job_.settings, key, text);
  std::vector<std::string> findings;
  from_ = continued(job_, options_.resume ? newest_checkpoint(folder_, &findings) : std::string());
  for (const auto& finding : findings) events_.warning("checkpoint", finding);
  // What is wrong with the job is said before minutes are spent on the data.
  CheckedJob checked = check_job(job_, from_.folder);
  spec_ = std::move(checked.spec);
  backend_ = std::move(checked.backend);
  compute_ = checked.compute;
  data_ = prepare_data(job_.model_path, spec_, job_.data_path, from_.folder, job_.settings, options_.stop,
                       [&](std::int64_t) { between()(); });
  data_.source.rows = {};  // their text is not needed any more: what is trained is tokens
  release_free_memory();
  plan_ = make_plan(spec_, data_.shape, job_.settings, plan_device(*backend_, compute_));
  if (!plan_.fits) {
    throw Error(ErrorCode::out_of_memory, "The run does not fit: " + plan_.why_not, "memory-limit",
                plan_.ways_out);
  }
  events_.set_steps(plan_.steps, 0);
  record_job();
  events_.state(RunState::loading, "Loads the base model");
  model_ = std::make_unique<BaseModel>(load_base_model(*backend_, job_.model_path, spec_, job_.settings,
                                                       compute_, options_.stop,
                                                       [&](std::uint64_t, std::uint64_t) { between()(); }));
  adapter_ = std::make_unique<LoraAdapter>(from_.folder.empty()
                                               ? LoraAdapter::create(*backend_, spec_, job_.settings)
                                               : LoraAdapter::load(*backend_, spec_, from_.folder));
  adapter_->set_dropout(job_.settings.dropout);
  // What a checkpoint brings need not be made.
  if (from_.folder.empty() && (!options_.resume || newest_checkpoint(folder_).empty())) start_fresh_adapter();
}

void Run::start_fresh_adapter() {
  auto said = std::chrono::steady_clock::now();
  start_adapter(*model_, *adapter_, *open_weight_source(job_.model_path), job_.settings, between(),
                [&](std::int64_t done, std::int64_t total) {
                  const auto now = std::chrono::steady_clock::now();
                  if (now - said < std::chrono::seconds(2) && done < total) return;
                  said = now;
                  events_.state(RunState::loading,
                                "LoftQ: layer " + std::to_string(done) + " of " + std::to_string(total));
                });
}

void Run::record_job() {
  const RunIdentity identity{base_id(job_.model_path, options_.library_home), data_.source.sha256,
                             data_.evaluation_source ? data_.evaluation_source->sha256 : "",
                             data_.format->template_hash(), from_.sha256};
  const auto machine = describe_machine(*backend_, compute_, job_.settings);
  if (options_.resume) {
    require_unchanged(job_, identity, folder_);
    if (!job_.machine.empty() && !same_machine(job_.machine, machine)) {
      events_.warning(
          "machine_changed",
          "The run goes on with another device, driver, library, compute type or number of threads: "
          "numbers may differ in the last digits from those of a run that was not moved");
    }
  } else {
    job_.shape_changes.clear();  // of the run whose job this one repeats
    for (const auto& warning : plan_.warnings) events_.warning("plan", warning);
    for (const auto& warning : start_warnings(data_, from_.folder, identity.base_id))
      events_.warning(warning.code.c_str(), warning.what);
  }
  job_.base_id = identity.base_id;
  job_.base_name = spec_.name;
  job_.data_sha256 = identity.data_sha256;
  job_.eval_data_sha256 = identity.eval_data_sha256;
  job_.template_hash = identity.template_hash;
  if (!identity.adapter_sha256.empty()) job_.adapter_sha256 = identity.adapter_sha256;
  job_.engine_version = options_.engine_version;
  job_.machine = machine;
  folder_.write_job(job_);
  // A run that is resumed has said it, unless its first engine ended before.
  if (!options_.resume || !folder_.read_history().data) events_.append(data_line(data_, plan_));
  notes_ = make_notes(job_, *data_.format, folder_.path(), rope_linear_factor(spec_, plan_.max_length),
                      from_.lineage);
  // What fitted one quantised base only still does.
  if (!from_.folder.empty()) notes_.init = read_adapter_notes(from_.folder).init;
}

void Run::start_or_restore() {
  time_ = TimeEstimate(spec_, job_.settings, plan_, data_.train, data_.evaluation);
  if (rehearses()) rehearse();
  Trainer::Parts parts;
  parts.model = model_.get();
  parts.adapter = adapter_.get();
  parts.train_rows = &data_.train;
  parts.evaluation_rows = &data_.evaluation;
  parts.settings = job_.settings;
  parts.plan = plan_;
  parts.compute = compute_;
  parts.rope_linear_factor = notes_.rope_linear_factor;
  parts.norms_every = std::max<std::int64_t>(1, plan_.steps / most_norms);
  parts.shape_changes = job_.shape_changes;
  trainer_ = std::make_unique<Trainer>(std::move(parts));
  samples_ = std::make_unique<SamplePrompts>(*model_, *adapter_, *data_.format, job_.settings.sample_prompts,
                                             compute_, notes_.rope_linear_factor);
  evaluation_missing_ = true;  // the one before the first step
  if (options_.resume) restore();
  if (trainer_->step_number() == 0) gradient_check_ = std::make_unique<GradientCheck>(*backend_, *adapter_);
}

void Run::restore() {
  const std::string newest = newest_checkpoint(folder_);
  if (!newest.empty()) trainer_->restore(newest);
  const std::int64_t step = trainer_->step_number();
  events_.set_steps(plan_.steps, step);
  events_.append({{"type", "resume"}, {"from_step", step}});
  recall_less_memory(step);
  const RunHistory history = folder_.read_history();
  events_.take_history(history);
  if (!history.steps.empty()) elapsed_before_ = history.steps.back().elapsed_seconds;
  // Killed between a checkpoint and its event.
  if (!newest.empty() && (history.checkpoints.empty() || history.checkpoints.back().step != step)) {
    events_.append(
        {{"type", "checkpoint"}, {"step", step}, {"path", "checkpoints/step-" + std::to_string(step)}});
  }
  recall_evaluations(history, was_done_);
}

RunEnd Run::train() {
  clock_.start(std::chrono::steady_clock::now(), elapsed_before_);
  events_.state(RunState::training);
  events_.phases().enter(Phase::train, std::chrono::steady_clock::now());
  try {
    if (evaluation_missing_) evaluate();
    while (!trainer_->finished() && !stops_early_) {
      one_step();
      after_step(trainer_->finished());
    }
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) throw;
    // A step whose update the device has is finished; one that is only begun has not happened.
    if (trainer_->in_flight()) report_step(trainer_->finish_step());
    trainer_->drop_step();
    if (verdict_ == NonFiniteGuard::Verdict::weights_lost && !go_back()) {
      throw Error(ErrorCode::numeric, guard_.why(), folder_.path(),
                  "There is no checkpoint: nothing is kept");
    }
    const std::int64_t step = trainer_->step_number();
    if (events_.state() != RunState::stopping)
      events_.state(RunState::stopping, "Stops now and keeps the finished steps");
    if (step > 0) checkpoint();
    finish("Stopped after step " + std::to_string(step) + " of " + std::to_string(plan_.steps));
    return RunEnd::stopped;
  }
  finish(stops_early_ && !trainer_->finished()
             ? "Stopped early after step " + std::to_string(trainer_->step_number()) + " of " +
                   std::to_string(plan_.steps) + ": " + std::to_string(watch_.without_gain()) +
                   " evaluations in a row brought no gain; the best was at step " +
                   std::to_string(watch_.best_step())
             : std::string());
  return RunEnd::done;
}

void Run::finish(const std::string& why) {
  if (trainer_->step_number() > 0) {
    trainer_->require_finite();
    events_.with_patience([&] { adapter_->save(*backend_, folder_.adapter_path(), notes_); });
    const std::string best = write_best();
    events_.append(
        {{"type", "done"}, {"adapter", "adapter"}, {"best_step", watch_.best_step()}, {"best", best}});
    if (!options_.library_home.empty()) {
      try {
        Library library(options_.library_home);
        register_run(library, folder_.path());
      } catch (const Error& error) {
        // The adapter is safe in its folder; a library that cannot be written must not make the run fail.
        events_.warning("library", error.what());
      }
    }
  }
  events_.state(RunState::done, why);
  folder_.sync_events();
}

RunEnd Run::execute() {
  folder_.lock();
  if (options_.resume) {
    folder_.cut_torn_line();
    const RunHistory history = folder_.read_history();
    was_done_ = history.state == RunState::done;
    events_.phases().add(history.seconds_by_phase);
  }
  control_.forget_old_requests();
  try {
    load();
    start_or_restore();
    if (options_.rehearsal != RehearsalMode::only) return train();
    events_.state(RunState::done, "Rehearsed: nothing was trained");
    return RunEnd::done;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::cancelled) {  // before the first step: there is nothing to keep
      events_.state(RunState::done, "Stopped while loading");
      return RunEnd::stopped;
    }
    events_.error(error);
    throw;
  } catch (const std::bad_alloc&) {
    events_.error(Error(ErrorCode::out_of_memory, "The system has no memory left"));
    throw;
  } catch (const std::exception& error) {
    events_.error(Error(ErrorCode::io, error.what()));
    throw;
  }
}

RunEnd run_job(RunFolder& run, const RunJobOptions& options) {
  return Run(run, options).execute();
}

}  // namespace lorikeet
