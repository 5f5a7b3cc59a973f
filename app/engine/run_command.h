// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/engine/command.h"
#include "core/train/run_folder.h"

namespace lorikeet {

/// Runs or resumes a run folder's job with progress in the terminal (or JSON lines); returns the exit code.
int run_in_terminal(RunFolder& run, bool resume, const CommandContext& context);

}  // namespace lorikeet
