// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "kernels/cuda/cuda_loader.h"

namespace lorikeet::cuda {

/// Makes the device current for the calling thread; the only place that does.
void use_device(int ordinal);

/// Compute capability as 75, 80, 90, ...
int compute_capability_of(int ordinal);

/// Name, "compute 8.6", multiprocessors (as threads), memory in all and free now, driver.
/// Throws Error(device) when the device does not answer.
DeviceInfo describe_device(int ordinal);

/// Throws Error(unsupported) naming the device when its compute capability is below 7.5.
void require_served(const DeviceInfo& device, int compute_capability);

/// The devices that can be used, or a sentence saying why there are none.
CudaReport find_devices();

/// Ordinal of the device a back end takes: the first that is served. Throws Error(unsupported) with the
/// reason.
int first_device();

/// Why CUDA cannot be used after `status` of the first call. `driver_version` as cudaDriverGetVersion gives
/// it (12040, 0 = there is none), `release` the version of the kernel's driver ("570.86.15"), empty where it
/// is not known.
std::string reason_for(cudaError_t status, int driver_version, const std::string& release);

}  // namespace lorikeet::cuda
