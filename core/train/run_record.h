// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/model/adapter_files.h"
#include "core/text/prompt.h"
#include "core/train/optimizer.h"
#include "core/train/prepare.h"
#include "core/train/run_folder.h"
#include "kernels/backend.h"

namespace lorikeet {

/// What a run is known by besides its settings: written into job.json when it begins, compared when it is
/// resumed.
struct RunIdentity {
  std::string base_id, data_sha256, eval_data_sha256, template_hash;
  std::string adapter_sha256;  ///< "" = a fresh adapter, or a checkpoint has taken its place
};

/// Throws Error(invalid_argument) naming what changed since `job` was recorded; fields the job has not
/// recorded yet fit.
void require_unchanged(const Job& job, const RunIdentity& now, const RunFolder& run);

/// Throws Error(invalid_argument) naming the first setting that decides about what is learnt and differs from
/// `saved`, the settings a checkpoint was made with (settings_to_json). Settings of watching and of the
/// machine may differ. The error is about `where`; `adapter` is what a new run would go on from.
void require_same_settings(const Json& saved, const Settings& now, const std::string& where,
                           const std::string& adapter);

/// Where what a run has learnt lies, for a new run that goes on from it: its adapter, else its last
/// checkpoint.
std::string learnt_adapter(const RunFolder& run);

/// Device, instruction set, threads and compute type, as job.json has them; of a GPU also the driver, CUDA's
/// run-time library and what large products run on; where device auto took the processor, why no GPU is used.
std::vector<std::pair<std::string, std::string>> describe_machine(Backend& backend, DType compute,
                                                                  const Settings& settings);
/// Whether two of these give the same numbers. The reason for not using a GPU does not count, nor does what
/// only one of them says: an older version recorded less.
bool same_machine(const std::vector<std::pair<std::string, std::string>>& a,
                  const std::vector<std::pair<std::string, std::string>>& b);

/// Lines of events.jsonl (design.md §10). JSON has no infinity: a skipped step's loss and norm are null.
Json event_line(const StepEvent& event);
Json event_line(const EvalEvent& event);
/// Four digits are kept: enough for a picture.
Json norms_line(std::int64_t step, const std::vector<LayerNorms>& layers);
Json data_line(const PreparedData& data, const Plan& plan);

/// lorikeet.json of an adapter this run writes (design.md §10).
AdapterNotes make_notes(const Job& job, const PromptFormat& format, const std::string& run_path,
                        double rope_linear_factor, std::vector<AdapterParent> lineage = {});

}  // namespace lorikeet
