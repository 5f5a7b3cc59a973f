// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "core/train/run_folder.h"
#include "ui/engine/engine_paths.h"

namespace lorikeet::ui {

/// The bundled sample as a job: samples/stories.job.json with its paths made absolute. Throws Error.
Job sampleJob(const EnginePaths& paths);

}  // namespace lorikeet::ui
