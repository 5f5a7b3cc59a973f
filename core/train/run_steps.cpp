// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "core/train/checkpoint.h"
#include "core/train/process_memory.h"
#include "core/train/run.h"
#include "core/train/stopwatch.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

RunClock::Time now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

std::function<void()> Run::between() {
  return [this] {
    const auto request = control_.poll();
    if (!request) return;
    switch (*request) {
      case ControlRequest::pause:
        events_.state(RunState::pausing, "Pauses after this step");
        break;
      case ControlRequest::checkpoint:
        events_.state(events_.state(), "A checkpoint follows this step");
        break;
      case ControlRequest::resume:
        events_.state(events_.state());
        break;
      case ControlRequest::stop:
        events_.state(RunState::stopping, "Stops now and keeps the finished steps");
        throw Error(ErrorCode::cancelled, "The run was stopped");
    }
  };
}

/// Nothing but steps comes after the next one, as far as is known.
bool Run::may_look_ahead() const {
  const std::int64_t step = trainer_->step_number() + 1;
  return backend_->asynchronous() && !gradient_check_ && step % plan_.eval_every != 0 &&
         step % plan_.save_every != 0 && !control_.pause_requested() && !control_.checkpoint_requested();
}

void Run::one_step() {
  if (!trainer_->begun()) {
    clock_.begin_step(now());
    with_less_memory([&] { trainer_->begin_step(between()); });
  }
  std::optional<StepReport> report;
  with_less_memory([&] {
    // Where the update itself was refused, the step is done again.
    if (!trainer_->in_flight() && !trainer_->begun()) trainer_->begin_step(between());
    report = trainer_->finish_step(between(), may_look_ahead());
  });
  report_step(*report);
}

void Run::report_step(const StepReport& report) {
  const double seconds = clock_.end_step(now());
  // Where the device has memory of its own, that is what a run is short of.
  const auto memory = backend_->device().kind == "cpu"
                          ? anonymous_bytes()
                          : static_cast<std::int64_t>(backend_->budget().used_bytes());
  time_.step_took(report.step, seconds);
  events_.set_seconds_left(time_.seconds_left(report.step));
  events_.step(report, trainer_->tokens_seen(), memory, seconds);
  say_time_left();
  guard(report);
}

void Run::checkpoint() {
  const std::int64_t step = trainer_->step_number();
  const std::string path = folder_.checkpoint_path(step);
  const InPhase saving(events_.phases(), Phase::save);
  const Stopwatch watch;
  events_.with_patience([&] {
    folder_.sync_events();
    trainer_->save(path, notes_);
    verify_checkpoint(path);  // the old one goes only after the new one was read back
    folder_.append(
        {{"type", "checkpoint"}, {"step", step}, {"path", "checkpoints/step-" + std::to_string(step)}});
    remove_old_checkpoints(folder_, job_.settings.keep_checkpoints, {path, best_checkpoint()});
  });
  time_.checkpoint_took(watch.seconds());
}

void Run::wait_while_paused(const std::string& why) {
  events_.state(RunState::paused, why);
  const auto left = now();
  const InPhase waiting(events_.phases(), Phase::wait);
  control_.wait_while_paused();  // throws Error(cancelled) on a stop request
  clock_.was_away(left, now());
  events_.state(RunState::training);
}

void Run::after_step(bool last) {
  if (verdict_ == NonFiniteGuard::Verdict::weights_lost) return wait_and_go_back();
  const std::int64_t step = trainer_->step_number();
  bool best = false;
  if (last || evaluation_is_due()) {
    best = evaluate();
    clock_.interrupt();
  }
  const bool ends = last || stops_early_;
  const bool wanted = control_.take_checkpoint_request();
  if (wanted || control_.pause_requested() || ends || best || step % plan_.save_every == 0) {
    checkpoint();
    clock_.interrupt();
  }
  if (!control_.pause_requested() || ends) return;
  wait_while_paused(std::exchange(verdict_, NonFiniteGuard::Verdict::go_on) == NonFiniteGuard::Verdict::pause
                        ? guard_.why()
                        : "Paused after step " + std::to_string(step));
}

}  // namespace lorikeet
