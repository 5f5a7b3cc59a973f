// SPDX-License-Identifier: Apache-2.0
// Operations of the CUDA back end that are not there yet, refused by name.
#include "kernels/base/error.h"
#include "kernels/cuda/cuda_backend.h"

namespace lorikeet::cuda {
namespace {

[[noreturn]] void refuse(const char* operation) {
  throw Error(ErrorCode::unsupported, std::string(operation) + " is not built for CUDA");
}

}  // namespace

void CudaBackend::layer_norm_forward(TensorView, TensorView, TensorView, float, TensorView, TensorView,
                                     TensorView) {
  refuse("layer_norm_forward");
}
void CudaBackend::layer_norm_backward(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                                      Write) {
  refuse("layer_norm_backward");
}
void CudaBackend::sum_of_squares(TensorView, TensorView) {
  refuse("sum_of_squares");
}
void CudaBackend::adamw(TensorView, TensorView, TensorView, TensorView, const AdamStep&) {
  refuse("adamw");
}
void CudaBackend::adamw_8bit(TensorView, TensorView, const Adam8bitState&, const AdamStep&) {
  refuse("adamw_8bit");
}
void CudaBackend::guarded_adamw(TensorView, TensorView, std::span<const AdamPart>, const AdamStep&, float,
                                TensorView, TensorView) {
  refuse("guarded_adamw");
}

}  // namespace lorikeet::cuda
