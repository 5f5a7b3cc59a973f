// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/train/run_folder.h"

namespace lorikeet {

/// How a run ended.
enum class RunEnd : std::uint8_t { done, stopped };

/// Whether everything is done once before the first step (rehearsal.h). `fresh`: unless the run is resumed
/// and its rehearsal went well, or it had none; `only`: nothing is trained.
enum class RehearsalMode : std::uint8_t { no, fresh, yes, only };

/// What a terminal shows while a run goes on; called from the run's own thread.
struct RunProgress {
  RunState state = RunState::loading;
  std::string why;  ///< what is loading, why it waits
  std::int64_t total_steps = 0;
  const StepEvent* step = nullptr;  ///< after a step
  const EvalEvent* evaluation = nullptr;
  const WarningEvent* warning = nullptr;
  double seconds_left = 0;  ///< after a step, 0 = not known yet
};

struct RunJobOptions {
  bool resume = false;  ///< go on from the newest complete checkpoint
  RehearsalMode rehearsal = RehearsalMode::no;
  std::string engine_version;
  /// Settings of this machine (device, compute, ...) that replace those of the job, for a run that goes on on
  /// another one: key and text as for set_setting.
  std::vector<std::pair<std::string, std::string>> machine_settings;
  std::string library_home;  ///< the finished adapter is registered here; "" = not
  std::function<void(const RunProgress&)> progress;
  std::stop_token stop;  ///< the same as a stop request in control/
};

/// Runs the job of a run folder from loading to the finished adapter: the engine's main loop (design.md §10,
/// "Life of a run"). Takes the folder's lock, appends events, obeys control/ within 2 s, saves and evaluates
/// as planned. A rehearsal that fails ends it before the first step. An error is written as an event and a
/// failed state before it is thrown on.
RunEnd run_job(RunFolder& run, const RunJobOptions& options);

}  // namespace lorikeet
