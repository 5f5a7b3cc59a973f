// SPDX-License-Identifier: Apache-2.0
#include "app/engine/run_command.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/engine/terminal_progress.h"
#include "app/version.h"
#include "core/train/run_job.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

Json progress_json(const RunProgress& progress) {
  if (progress.step) {
    const StepEvent& step = *progress.step;
    return {{"type", "step"},
            {"step", step.step},
            {"total_steps", progress.total_steps},
            {"loss", step.loss},
            {"learning_rate", step.learning_rate},
            {"grad_norm", step.grad_norm},
            {"tokens", step.tokens},
            {"tokens_per_second", step.tokens_per_second},
            {"memory_bytes", step.memory_bytes},
            {"seconds_left", progress.seconds_left}};
  }
  if (progress.evaluation) {
    return {{"type", "eval"},
            {"step", progress.evaluation->step},
            {"loss", progress.evaluation->loss},
            {"perplexity", progress.evaluation->perplexity},
            {"tokens", progress.evaluation->tokens}};
  }
  if (progress.warning)
    return {{"type", "warning"}, {"code", progress.warning->code}, {"what", progress.warning->what}};
  return {{"type", "state"}, {"state", to_string(progress.state)}, {"why", progress.why}};
}

}  // namespace

int run_in_terminal(RunFolder& run, bool resume, const CommandContext& context,
                    const std::vector<std::pair<std::string, std::string>>& machine_settings,
                    RehearsalMode rehearsal) {
  TerminalProgress terminal;
  RunJobOptions options;
  options.resume = resume;
  options.machine_settings = machine_settings;
  options.rehearsal = rehearsal;
  options.engine_version = version;
  options.library_home = context.home;
  options.stop = context.stop;
  options.progress = [&](const RunProgress& progress) {
    if (context.json)
      print_json(progress_json(progress));
    else
      terminal.show(progress);
  };
  RunEnd end = RunEnd::done;
  try {
    end = run_job(run, options);
  } catch (...) {
    terminal.end();
    throw;
  }
  terminal.end();
  if (rehearsal == RehearsalMode::only) {
    if (context.json)
      print_json({{"type", "rehearsed"}, {"stopped", end == RunEnd::stopped}});
    else
      print_text(end == RunEnd::stopped ? "Stopped.\n"
                                        : "Nothing was trained; lorikeet resume begins the run.\n");
    return end == RunEnd::stopped ? exit_stopped : exit_done;
  }
  if (context.json)
    print_json({{"type", "done"}, {"adapter", run.adapter_path()}, {"stopped", end == RunEnd::stopped}});
  else
    print_text((end == RunEnd::stopped ? "Stopped. What was learnt until then lies in "
                                       : "Done. The adapter lies in ") +
               run.adapter_path() + "\n");
  return end == RunEnd::stopped ? exit_stopped : exit_done;
}

}  // namespace lorikeet
