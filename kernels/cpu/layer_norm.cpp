// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/error.h"
#include "kernels/cpu/cpu_backend.h"

namespace lorikeet {

void CpuBackend::layer_norm_forward(TensorView, TensorView, TensorView, float, TensorView, TensorView,
                                    TensorView) {
  throw Error(ErrorCode::unsupported, "LayerNorm is not built");
}
void CpuBackend::layer_norm_backward(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                                     Write) {
  throw Error(ErrorCode::unsupported, "LayerNorm is not built");
}

}  // namespace lorikeet
