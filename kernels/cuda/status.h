// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

namespace lorikeet::cuda {

/// True for an error that the device cannot recover from (lost, illegal address): every later call of the
/// process fails.
bool is_lost(cudaError_t status);

/// Throws Error(out_of_memory) or Error(device) naming the call when `status` is an error. After an error
/// that the device cannot recover from (lost, illegal address), every later call fails too: the engine
/// process ends with it.
void check_cuda(cudaError_t status, const char* call);

}  // namespace lorikeet::cuda
