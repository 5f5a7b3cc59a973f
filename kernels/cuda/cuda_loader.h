// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"

namespace lorikeet {

/// CUDA devices that can be used, the one a back end takes first, and why there are none.
struct CudaReport {
  std::vector<DeviceInfo> devices;
  std::string reason;  ///< empty when there is a device
  std::string note;    ///< what is worth knowing of them, for example that cuBLASLt is missing
};

/// Looks for CUDA devices; never throws for their absence. With `start`, see list_devices(): throws Error for
/// a device that cannot be had.
CudaReport list_cuda_devices(bool start);

/// The CUDA back end; throws Error(unsupported) with the reason when there is none.
std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options);

}  // namespace lorikeet
