// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/status.h"

#include <string>

#include "kernels/base/error.h"

namespace lorikeet::cuda {

bool is_lost(cudaError_t status) {
  switch (status) {
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a refused allocation is said once, not at the next call again
  const std::string what = std::string(call) + " failed: " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    throw Error(ErrorCode::out_of_memory, what, "GPU memory",
                "Lower batch-size or max-length, or close other programs");
  }
  if (is_lost(status)) {
    throw Error(ErrorCode::device, what, "GPU",
                "The GPU has to be started anew: go on from the last checkpoint; if it happens again, use "
                "device cpu");
  }
  throw Error(ErrorCode::device, what, "GPU", "Use device cpu, or a newer driver");
}

}  // namespace lorikeet::cuda
