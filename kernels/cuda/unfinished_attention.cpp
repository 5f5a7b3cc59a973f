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

void CudaBackend::attention_forward(TensorView, TensorView, TensorView, const PackedRows&,
                                    const AttentionShape&, TensorView, TensorView) {
  refuse("attention_forward");
}
void CudaBackend::attention_backward(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                                     const PackedRows&, const AttentionShape&, TensorView, TensorView,
                                     TensorView) {
  refuse("attention_backward");
}
void CudaBackend::attention_cached(TensorView, TensorView, TensorView, TensorView, std::int64_t,
                                   const AttentionShape&, TensorView) {
  refuse("attention_cached");
}

}  // namespace lorikeet::cuda
