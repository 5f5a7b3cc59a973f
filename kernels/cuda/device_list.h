// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/cuda/cuda_loader.h"

namespace lorikeet::cuda {

/// Makes the device current for the calling thread, and a context on it; the only place that does.
void use_device(int ordinal);

/// Compute capability as 75, 80, 90, ...
int compute_capability_of(int ordinal);

/// Name, "compute 8.6", multiprocessors (as threads), memory, driver, run-time library. No context is made,
/// so it takes no memory on the card. Free memory is what board_memory() says; where that is not known it is
/// all there is, and memory_free_known is false. Throws Error(device) when the device does not answer.
DeviceInfo describe_device(int ordinal);

/// The same of a device that a back end is about to use: makes the context, loads one kernel and measures
/// free memory after both, so that it is what cudaMalloc still has to give and nothing of our own has to be
/// taken off. Throws Error(unsupported) where the device is another program's alone or does not take this
/// build's code (the context is given back), Error(device) or Error(out_of_memory) where it cannot be had.
DeviceInfo start_device(int ordinal);

/// Asks for a kernel of this build on the current device. (copy.cu)
cudaError_t ask_for_code();

/// Throws Error(unsupported) naming the device when its compute capability is below 7.5.
void require_served(const DeviceInfo& device, int compute_capability);

/// The devices that can be used, or a sentence saying why there are none; devices that are passed over are in
/// the note. `architectures` is what this build has code for (built_code.h). With `start`, the first that is
/// served is started and the devices after it are only described; throws Error where the only reason for
/// having none is that a device that has code cannot be had.
CudaReport find_devices(const std::string& architectures = {}, bool start = false);

/// Ordinal of the device a back end takes: the first that is served and starts. Throws Error(unsupported)
/// with the reason.
int first_device(const std::string& architectures = {});

/// Why CUDA cannot be used after `status` of the first call. `driver_version` as cudaDriverGetVersion gives
/// it (12040, 0 = there is none), `release` the version of the kernel's driver ("570.86.15"), empty where it
/// is not known.
std::string reason_for(cudaError_t status, int driver_version, const std::string& release);

}  // namespace lorikeet::cuda
