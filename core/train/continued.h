// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/model/adapter_files.h"
#include "core/train/run_folder.h"

namespace lorikeet {

/// The adapter a run begins with, when it is not a fresh one.
struct Continued {
  std::string folder;  ///< brings modules, template and system text; "" = none
  std::string sha256;  ///< of the weights of the adapter the job names; "" when `folder` is a checkpoint
  std::vector<AdapterParent> lineage;  ///< of what this run makes
};

/// What a job goes on from: the adapter it names, or, where the run has one, its own newest checkpoint ("" =
/// none): once that is there, the adapter it came from is needed no more.
Continued continued(const Job& job, const std::string& newest_checkpoint);

}  // namespace lorikeet
