// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_events.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/train/non_finite_guard.h"
#include "core/train/run_record.h"

namespace lorikeet {
namespace {

RunClock::Time now() {
  return std::chrono::steady_clock::now();
}

}  // namespace

void RunEvents::show(const StepEvent* step, const EvalEvent* evaluation, const WarningEvent* warning) {
  if (!options_.progress) return;
  RunProgress progress{state_, why_, total_steps_, step, evaluation, warning, 0};
  progress.seconds_left = seconds_left_;
  options_.progress(progress);
}

void RunEvents::state(RunState state, const std::string& why) {
  this->state(state, why, Json::object());
}

void RunEvents::state(RunState state, const std::string& why, const Json& more) {
  state_ = state;
  why_ = why;
  Json event = {{"type", "state"}, {"state", to_string(state)}};
  if (!why.empty()) event["why"] = why;
  if (total_steps_ > 0) event["total_steps"] = total_steps_;
  for (const auto& [name, seconds] : phases_.seconds(now())) event["seconds_by_phase"][name] = seconds;
  event.update(more);
  append(event);
  show();
}

void RunEvents::time_left(double seconds) {
  seconds_left_ = seconds;
  append({{"type", "state"},
          {"state", to_string(state_)},
          {"total_steps", total_steps_},
          {"step", finished_steps_},
          {"seconds_left", seconds}});
}

void RunEvents::warning(const char* code, const std::string& what, std::int64_t step) {
  Json event = {{"type", "warning"}, {"code", code}, {"what", what}};
  if (step > 0) event["step"] = step;
  append(event);
  const WarningEvent shown{code, what};
  show(nullptr, nullptr, &shown);
}

void RunEvents::step(const StepReport& report, std::int64_t tokens_seen, std::int64_t memory_bytes,
                     double seconds) {
  finished_steps_ = report.step;
  const StepEvent event{report.step,           report.epoch,
                        report.loss,           report.learning_rate,
                        report.grad_norm,      tokens_seen,
                        report.trained_tokens, static_cast<double>(report.tokens) / seconds,
                        memory_bytes,          clock_.elapsed_seconds(now())};
  warn(report);
  append(event_line(event));
  if (!report.layers.empty()) append(norms_line(report.step, report.layers));
  show(&event);
}

void RunEvents::warn(const StepReport& report) {
  if (report.loss_scale < 1 && !std::exchange(warned_of_scale_, true)) {
    warning("loss_scale",
            "The loss scale fell below 1: the numbers of this run do not fit f16; compute f32 has room "
            "for them",
            report.step);
  }
  if (!report.skipped) return;
  if (report.searches_scale()) return tell_of_scale_search(report);
  warning("skipped_step",
          "Step " + std::to_string(report.step) + " gave a value that is not finite and was skipped; rows " +
              rows_text(report),
          report.step);
}

void RunEvents::tell_of_scale_search(const StepReport& report) {
  if (std::exchange(told_of_scale_search_, true)) return;
  warning("loss_scale_search",
          "f16 gradients are multiplied by a loss scale, whose largest fitting value is being found: step " +
              std::to_string(report.step) + " was too large with " +
              std::to_string(static_cast<std::int64_t>(report.loss_scale)) +
              " and was left out, as others may be. Nothing is wrong with its rows",
          report.step);
}

void RunEvents::take_history(const RunHistory& history) {
  for (const WarningEvent& warning : history.warnings) {
    warned_of_scale_ = warned_of_scale_ || warning.code == "loss_scale";
    told_of_scale_search_ = told_of_scale_search_ || warning.code == "loss_scale_search";
  }
}

void RunEvents::evaluation(const EvalEvent& event) {
  append(event_line(event));
  show(nullptr, &event);
}

void RunEvents::error(const Error& error) {
  state_ = RunState::failed;
  why_ = error.message();
  try {
    folder_.append({{"type", "error"},
                    {"code", to_string(error.code())},
                    {"what", error.message()},
                    {"where", error.where()},
                    {"hint", error.hint()}});
    folder_.append({{"type", "state"}, {"state", to_string(state_)}, {"why", why_}});
  } catch (const Error&) {
    // The disk takes no more; the caller gets the error all the same.
  }
  show();
}

void RunEvents::with_patience(const std::function<void()>& action) {
  for (;;) {
    try {
      return action();
    } catch (const std::filesystem::filesystem_error& error) {
      wait_for_disk(error.what());
    } catch (const Error& error) {
      if (error.code() != ErrorCode::disk_full && error.code() != ErrorCode::io &&
          error.code() != ErrorCode::not_found)
        throw;
      wait_for_disk(error.what());
    }
  }
}

void RunEvents::wait_for_disk(const std::string& why) {
  const RunState before = std::exchange(state_, RunState::waiting);
  why_ = why;
  show();
  try {
    folder_.append({{"type", "state"}, {"state", to_string(state_)}, {"why", why_}});
  } catch (const Error&) {
    // The same full disk takes no event either; the terminal has been told above.
  }
  const auto left = now();
  const InPhase waiting(phases_, Phase::wait);
  control_.wait_for_retry();  // throws Error(cancelled) on a stop request
  clock_.was_away(left, now());
  state_ = before;
  why_.clear();
}

}  // namespace lorikeet
