// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "app/engine/command.h"
#include "core/train/run_job.h"

namespace lorikeet {

/// Runs, rehearses or resumes a run folder's job with progress in the terminal (or JSON lines); returns the
/// exit code. `machine_settings` replace the job's (RunJobOptions).
int run_in_terminal(RunFolder& run, bool resume, const CommandContext& context,
                    const std::vector<std::pair<std::string, std::string>>& machine_settings = {},
                    RehearsalMode rehearsal = RehearsalMode::no);

}  // namespace lorikeet
