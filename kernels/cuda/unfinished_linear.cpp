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

std::int64_t CudaBackend::tail_columns(std::int64_t, std::int64_t) const {
  refuse("tail_columns");
}
void CudaBackend::linear_forward(TensorView, const Weight&, std::span<const LoraTerm>, TensorView, Write) {
  refuse("linear_forward");
}
void CudaBackend::linear_backward(TensorView, TensorView, const Weight&, const LoraTerm*, const LoraGradient*,
                                  TensorView, Write) {
  refuse("linear_backward");
}
void CudaBackend::linear_group_forward(TensorView, std::span<const LinearPart>, TensorView) {
  refuse("linear_group_forward");
}
void CudaBackend::linear_group_backward(std::span<const LinearBackwardPart>, TensorView, TensorView, Write) {
  refuse("linear_group_backward");
}

}  // namespace lorikeet::cuda
