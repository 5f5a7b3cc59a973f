// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/model/lora_adapter.h"
#include "core/train/operations.h"
#include "core/train/prepare.h"
#include "kernels/backend.h"

namespace lorikeet {

class BaseModel;
struct Job;

/// What a rehearsal works with; all of it stays as it is.
struct RehearsalParts {
  BaseModel* model = nullptr;
  LoraAdapter* adapter = nullptr;  ///< as the run will start with; the same bytes afterwards
  const PreparedData* data = nullptr;
  const Job* job = nullptr;
  const Plan* plan = nullptr;
  const AdapterNotes* notes = nullptr;
  DType compute = DType::f32;
  std::string run_path;  ///< the run's folder; a folder in it is made and removed
};

/// What a rehearsal found and measured.
struct RehearsalReport {
  double seconds = 0;                             ///< of all
  std::int64_t batch_rows = 0, batch_tokens = 0;  ///< of the longest batch
  TokenCounts batch;                              ///< its work
  double batch_seconds = 0;                       ///< forward, backward and update of it
  std::int64_t evaluation_tokens = 0;
  double evaluation_seconds = 0;  ///< of one batch; 0 = no evaluation rows
  double checkpoint_seconds = 0;  ///< written, and read back
  std::uint64_t export_bytes = 0;
  std::vector<std::string> warnings;  ///< what does not stop the run
};

/// Does everything once that a run will do, before its first step: free space for all checkpoints, a
/// checkpoint written and read back, the longest batch the run can have forward and backward through all
/// layers with an update (N16: whether every part of the adapter learns), one evaluation batch with the
/// longest row, and the laying out and merging of an export, without writing it. On a copy: the trainer, its
/// optimiser and its order of rows are of their own, and the adapter is put back from the checkpoint. `say`
/// is told what comes next. Throws Error with what would have failed later (disk_full, io, out_of_memory,
/// numeric, bad_format); the adapter is not put back then.
RehearsalReport rehearse(const RehearsalParts& parts, const std::function<void(const std::string&)>& say,
                         const std::function<void()>& between);

/// Where a rehearsal's checkpoint lies while it goes on; a killed one leaves it behind.
std::string rehearsal_folder(const std::string& run_path);

/// Rows for a micro-batch as large as any the run can have: indexes of the longest rows that go into one.
std::vector<std::int64_t> longest_batch(const std::vector<TokenRow>& rows, const Settings& settings,
                                        std::int64_t max_length);

}  // namespace lorikeet
