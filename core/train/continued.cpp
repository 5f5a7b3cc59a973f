// SPDX-License-Identifier: Apache-2.0
#include "core/train/continued.h"

#include <filesystem>

#include "core/base/hash.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// A run's adapter lies in a folder named "adapter", "best" or "step-N": the run's name says more.
std::string name_of(const std::string& folder, const std::string& run_id) {
  const std::string name = fs::path(folder).lexically_normal().filename().string();
  return run_id.empty() || name == run_id ? name : run_id + "/" + name;
}

}  // namespace

Continued continued(const Job& job, const std::string& newest_checkpoint) {
  Continued from;
  if (job.adapter_path.empty()) return from;
  if (!newest_checkpoint.empty()) {
    from.folder = newest_checkpoint;
    from.lineage = read_adapter_notes(newest_checkpoint).lineage;
    return from;
  }
  from.folder = job.adapter_path;
  from.sha256 = sha256_file(adapter_weights_path(job.adapter_path));
  const AdapterNotes notes = read_adapter_notes(job.adapter_path);
  from.lineage.push_back({name_of(job.adapter_path, notes.run_id), notes.run_id, from.sha256});
  from.lineage.insert(from.lineage.end(), notes.lineage.begin(), notes.lineage.end());
  return from;
}

}  // namespace lorikeet
