// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/train/rehearsal.h"
#include "core/train/run.h"
#include "kernels/base/error.h"

namespace lorikeet {

bool Run::rehearses() const {
  std::error_code ignored;
  std::filesystem::remove_all(rehearsal_folder(folder_.path()), ignored);  // of an engine that was killed
  if (options_.rehearsal == RehearsalMode::fresh)
    return !options_.resume || folder_.read_history().rehearsing;
  return options_.rehearsal != RehearsalMode::no;
}

void Run::rehearse() {
  RehearsalParts parts;
  parts.model = model_.get();
  parts.adapter = adapter_.get();
  parts.data = &data_;
  parts.job = &job_;
  parts.plan = &plan_;
  parts.notes = &notes_;
  parts.compute = compute_;
  parts.run_path = folder_.path();
  const auto say = [&](const std::string& what) {
    events_.state(RunState::loading, what, {{"rehearsing", true}});
  };
  const RehearsalReport report = lorikeet::rehearse(parts, say, between());
  for (const std::string& warning : report.warnings) events_.warning("rehearsal", warning);
  time_.rehearsed(report.batch, report.batch_seconds);
  if (report.checkpoint_seconds > 0) time_.checkpoint_took(report.checkpoint_seconds);
  const double left = time_.seconds_left(0);
  plan_.seconds = left;
  events_.set_seconds_left(left);
  // A state line: two runs of the same job are the same but for those, and times differ.
  events_.state(RunState::loading, "Rehearsed: all went well",
                {{"seconds_left", left},
                 {"rehearsal",
                  {{"seconds", report.seconds},
                   {"batch_rows", report.batch_rows},
                   {"batch_tokens", report.batch_tokens},
                   {"batch_seconds", report.batch_seconds},
                   {"evaluation_tokens", report.evaluation_tokens},
                   {"evaluation_seconds", report.evaluation_seconds},
                   {"checkpoint_seconds", report.checkpoint_seconds},
                   {"disk_bytes", plan_.disk_bytes},
                   {"export_bytes", report.export_bytes}}}});
}

void Run::say_time_left() {
  const std::int64_t step = trainer_->step_number(), total = trainer_->total_steps();
  const bool settles = !time_is_settled_ && time_.measured_steps() >= TimeEstimate::settled_steps;
  if (step >= total || !(settles || (time_is_settled_ && step % std::max<std::int64_t>(1, total / 10) == 0)))
    return;
  time_is_settled_ = true;
  events_.time_left(time_.seconds_left(step));
}

}  // namespace lorikeet
