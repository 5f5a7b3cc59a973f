// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/error.h"
#include "kernels/cpu/cpu_backend.h"

namespace lorikeet {

void CpuBackend::gelu_forward(TensorView, TensorView) {
  throw Error(ErrorCode::unsupported, "GELU is not built");
}
void CpuBackend::gelu_backward(TensorView, TensorView, TensorView) {
  throw Error(ErrorCode::unsupported, "GELU is not built");
}

}  // namespace lorikeet
