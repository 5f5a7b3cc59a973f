// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/status.h"

#include <string>

#include "kernels/base/error.h"

namespace lorikeet::cuda {

void check_cuda(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();  // a refused allocation is said once, not at the next call again
  const std::string what = std::string(call) + " failed: " + cudaGetErrorString(status);
  if (status == cudaErrorMemoryAllocation) {
    throw Error(ErrorCode::out_of_memory, what, "GPU memory",
                "Lower batch-size or max-length, or close other programs");
  }
  throw Error(ErrorCode::device, what, "GPU",
              "Go on from the last checkpoint; if it happens again, use device cpu");
}

}  // namespace lorikeet::cuda
