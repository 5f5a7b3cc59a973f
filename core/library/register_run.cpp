// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>

#include "core/library/library.h"
#include "core/model/model_spec.h"
#include "core/train/run_folder.h"
#include "kernels/base/error.h"

namespace lorikeet {

AdapterRecord register_run(Library& library, const std::string& run_path) {
  const RunFolder run = RunFolder::open(run_path);
  const Job job = run.read_job();
  const RunHistory history = run.read_history();
  if (!history.done) {
    throw Error(ErrorCode::invalid_argument, "The run has no finished adapter", run_path,
                "Let it finish, or go on with it");
  }
  const ModelSpec spec = read_model_spec(job.model_path);
  library.register_base({job.base_id, job.base_name, job.model_path, spec.family, spec.parameters()});
  AdapterRecord record;
  record.data_name = std::filesystem::path(job.data_path).stem().string();
  record.group = job.base_name + " + " + record.data_name;
  record.name = job.name;
  record.base_id = job.base_id;
  record.data_sha256 = job.data_sha256;
  record.run_path = run.path();
  record.path = run.adapter_path();
  record.created_ms = static_cast<std::int64_t>(history.last_time * 1000);
  if (!history.steps.empty()) {
    record.steps = history.steps.back().step;
    record.loss = history.steps.back().loss;
  }
  if (!history.evaluations.empty()) record.eval_loss = history.evaluations.back().loss;
  return library.register_adapter(std::move(record));
}

}  // namespace lorikeet
