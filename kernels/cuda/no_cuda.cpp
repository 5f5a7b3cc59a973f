// SPDX-License-Identifier: Apache-2.0
// Compiled instead of the CUDA back end's loader where the program was built without it.
#include "kernels/base/error.h"
#include "kernels/cuda/cuda_loader.h"

namespace lorikeet {

CudaReport list_cuda_devices(bool) {
  return {{}, "CUDA is not used: this build has no CUDA back end", {}};
}

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions&) {
  throw Error(ErrorCode::unsupported, "This build has no CUDA back end", "device cuda",
              "Use device cpu or auto");
}

}  // namespace lorikeet
