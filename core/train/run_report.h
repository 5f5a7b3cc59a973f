// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/base/json.h"
#include "core/train/run_folder.h"

namespace lorikeet {

/// What a run's history comes to, for `lorikeet inspect RUN`: {"steps", "total_steps", "loss": {first, last,
/// lowest}, "evaluations": [...], "tokens_per_second" (median), "memory_bytes" (highest), "rows", "phases":
/// {name: {"seconds", "share"}}, "layers": [{"layer", "gradient", "update", "parameter", "update_share"}] of
/// the last measurement, "coach": [{"trouble", "step", "what", "evidence", "suggestion", "settings"}]}. Parts
/// that the run has not come to are left out.
Json run_report(const RunHistory& history, const Settings& settings);

}  // namespace lorikeet
