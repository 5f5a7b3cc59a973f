// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "app/engine/run_command.h"
#include "app/engine/settings_flags.h"
#include "core/train/check_job.h"
#include "core/train/checkpoint.h"
#include "core/train/continued.h"
#include "core/train/run_record.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Leaves a request for a living engine; there is nobody to ask otherwise.
int request(const CommandContext& context, const std::string& path, ControlRequest what, const char* name) {
  const RunFolder run = RunFolder::open(absolute_path(path));
  if (!run.is_alive()) {
    throw Error(ErrorCode::invalid_argument, "No engine works on this run", run.path(),
                "Go on with it: lorikeet resume " + run.path());
  }
  run.request(what);
  if (context.json)
    print_json({{"requested", name}});
  else
    print_text(std::string("Asked the engine to ") + name + ".\n");
  return exit_done;
}

struct ResumeOptions {
  std::string path;
  SettingsFlags settings;
  bool rehearse = false;
};

int resume(const CommandContext& context, const ResumeOptions& options) {
  RunFolder run = RunFolder::open(absolute_path(options.path));
  const auto given = options.settings.given();
  if (run.is_alive()) {
    if (!given.empty()) {
      throw Error(ErrorCode::invalid_argument,
                  "An engine works on this run; --" + given.front().first + " is for one that has ended",
                  run.path(), "Stop it first: lorikeet stop " + run.path());
    }
    return request(context, options.path, ControlRequest::resume, "go on");
  }
  const RunHistory history = run.read_history();
  if (history.state == RunState::done && !history.steps.empty() &&
      history.steps.back().step >= history.total_steps) {
    throw Error(ErrorCode::invalid_argument, "This run is finished", run.path(),
                "Train on from its adapter: lorikeet train --adapter " + run.adapter_path());
  }
  if (!given.empty()) {  // a machine that cannot do it leaves the run as it is
    Job job = run.read_job();
    const Json as_begun = settings_to_json(job.settings);
    for (const auto& [key, text] : given) set_setting(job.settings, key, text);
    require_same_settings(as_begun, job.settings, run.path(), learnt_adapter(run));
    check_job(job, continued(job, newest_checkpoint(run)).folder);
  }
  return run_in_terminal(run, true, context, given,
                         options.rehearse ? RehearsalMode::yes : RehearsalMode::fresh);
}

}  // namespace

void add_run_control(CLI::App& app, CommandContext& context) {
  auto path = std::make_shared<std::string>();
  const auto add = [&](const char* name, const char* help, std::string& run, std::function<int()> action) {
    CLI::App* command = add_command(app, context, name, help);
    command->add_option("run", run, "Folder of the run")->required();
    command->callback([&context, action] { context.action = action; });
    return command;
  };
  auto resumed = std::make_shared<ResumeOptions>();
  CLI::App* command =
      add("resume",
          "Lift a pause, or go on from the newest checkpoint; on another device the last digits "
          "may differ",
          resumed->path, [&context, resumed] { return resume(context, *resumed); });
  resumed->settings.add_to(*command);  // those that a run cannot change are refused with a reason
  command->add_flag("--rehearse", resumed->rehearse,
                    "Do everything once before the next step, as a new run does; by itself only after a "
                    "rehearsal that failed");
  add("pause", "Ask a run to pause after the step at hand", *path,
      [&context, path] { return request(context, *path, ControlRequest::pause, "pause"); });
  add("stop", "Ask a run to stop and keep what it has learnt", *path,
      [&context, path] { return request(context, *path, ControlRequest::stop, "stop"); });
}

}  // namespace lorikeet
