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

void CudaBackend::copy(TensorView, TensorView) {
  refuse("copy");
}
void CudaBackend::fill_zero(TensorView) {
  refuse("fill_zero");
}
void CudaBackend::embedding_forward(TensorView, TensorView, TensorView) {
  refuse("embedding_forward");
}
void CudaBackend::embedding_backward(TensorView, TensorView, TensorView) {
  refuse("embedding_backward");
}
void CudaBackend::gather_rows(TensorView, TensorView, TensorView) {
  refuse("gather_rows");
}
void CudaBackend::scatter_rows(TensorView, TensorView, TensorView) {
  refuse("scatter_rows");
}
void CudaBackend::add(TensorView, TensorView) {
  refuse("add");
}
void CudaBackend::rms_norm_forward(TensorView, TensorView, float, TensorView, TensorView, NormScale) {
  refuse("rms_norm_forward");
}
void CudaBackend::rms_norm_backward(TensorView, TensorView, TensorView, TensorView, TensorView, Write,
                                    NormScale) {
  refuse("rms_norm_backward");
}
void CudaBackend::layer_norm_forward(TensorView, TensorView, TensorView, float, TensorView, TensorView,
                                     TensorView) {
  refuse("layer_norm_forward");
}
void CudaBackend::layer_norm_backward(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                                      Write) {
  refuse("layer_norm_backward");
}
void CudaBackend::rope(TensorView, TensorView, TensorView, TensorView, bool) {
  refuse("rope");
}
void CudaBackend::rope_pair(TensorView, TensorView, TensorView, TensorView, TensorView, bool) {
  refuse("rope_pair");
}
void CudaBackend::rope_append(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                              TensorView, TensorView) {
  refuse("rope_append");
}
void CudaBackend::glu_forward(TensorView, TensorView, TensorView, Activation) {
  refuse("glu_forward");
}
void CudaBackend::glu_backward(TensorView, TensorView, TensorView, TensorView, TensorView, TensorView,
                               Activation) {
  refuse("glu_backward");
}
void CudaBackend::gelu_forward(TensorView, TensorView) {
  refuse("gelu_forward");
}
void CudaBackend::gelu_backward(TensorView, TensorView, TensorView) {
  refuse("gelu_backward");
}
void CudaBackend::sample(TensorView, TensorView, const SamplingRule&, double, TensorView) {
  refuse("sample");
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
