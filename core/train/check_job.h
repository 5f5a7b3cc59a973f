// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "core/model/model_spec.h"
#include "core/train/run_folder.h"
#include "kernels/backend.h"

namespace lorikeet {

/// What a checked job will run on.
struct CheckedJob {
  ModelSpec spec;
  std::unique_ptr<Backend> backend;
  DType compute = DType::f32;
};

/// Everything about a job that can be known before its data are read: model and adapter are complete and fit
/// together, the template is there and can be read, the files are there, device, compute type and offload are
/// to be had. `adapter_folder` ("" = a fresh adapter) is what the run begins with: the adapter the job names,
/// or its own checkpoint (continued()). Throws the Error that the run would end with; makes nothing.
CheckedJob check_job(const Job& job, const std::string& adapter_folder);

}  // namespace lorikeet
