// SPDX-License-Identifier: Apache-2.0
#include "core/model/block.h"

#include "kernels/base/half.h"

namespace lorikeet {
namespace {

NormScale scale_of(const ModelSpec& spec) {
  return spec.norm == NormKind::rms_one_plus ? NormScale::one_plus_weight : NormScale::weight;
}

Activation activation_of(const ModelSpec& spec) {
  return spec.mlp == MlpKind::gelu_gated ? Activation::gelu : Activation::silu;
}

}  // namespace

void norm_forward(Backend& backend, const ModelSpec& spec, const NormWeights& norm, TensorView x,
                  TensorView y, TensorView mean, TensorView rstd) {
  const auto epsilon = static_cast<float>(spec.norm_epsilon);
  if (spec.norm == NormKind::layer)
    return backend.layer_norm_forward(x, norm.weight, norm.bias, epsilon, y, mean, rstd);
  backend.rms_norm_forward(x, norm.weight, epsilon, y, rstd, scale_of(spec));
}

void norm_backward(Backend& backend, const ModelSpec& spec, const NormWeights& norm, TensorView dy,
                   TensorView x, TensorView mean, TensorView rstd, TensorView dx, Write write) {
  if (spec.norm == NormKind::layer)
    return backend.layer_norm_backward(dy, x, norm.weight, mean, rstd, dx, write);
  backend.rms_norm_backward(dy, x, norm.weight, rstd, dx, write, scale_of(spec));
}

void activate(Backend& backend, const ModelSpec& spec, TensorView gate, TensorView up, TensorView inner) {
  if (!spec.has_gate()) return backend.gelu_forward(up, inner);
  backend.glu_forward(gate, up, inner, activation_of(spec));
}

void activate_backward(Backend& backend, const ModelSpec& spec, TensorView dinner, TensorView gate,
                       TensorView up) {
  if (!spec.has_gate()) return backend.gelu_backward(dinner, up, up);
  backend.glu_backward(dinner, gate, up, gate, up, {}, activation_of(spec));
}

Tensor embedding_scale(Backend& backend, const ModelSpec& spec, DType compute) {
  if (spec.embedding_scale == 1) return {};
  auto scale = static_cast<float>(spec.embedding_scale);
  if (compute == DType::bf16) scale = bf16_to_f32(f32_to_bf16(scale));
  if (compute == DType::f16) scale = f16_to_f32(f32_to_f16(scale));
  const std::vector<float> values(static_cast<std::size_t>(spec.hidden_size), scale);
  Tensor result = backend.allocate({spec.hidden_size}, DType::f32);
  backend.upload(result, values.data());
  return result;
}

AttentionShape attention_shape_of(const ModelSpec& spec, std::int64_t layer) {
  return {spec.heads,
          spec.kv_heads,
          spec.head_dim,
          spec.attention_scale(),
          spec.window_of(layer),
          static_cast<float>(spec.attention_soft_cap)};
}

}  // namespace lorikeet
