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

void CudaBackend::head_cross_entropy(TensorView, const Weight&, TensorView, float, TensorView, TensorView,
                                     float) {
  refuse("head_cross_entropy");
}
void CudaBackend::head_logits(TensorView, const Weight&, TensorView, float) {
  refuse("head_logits");
}

}  // namespace lorikeet::cuda
