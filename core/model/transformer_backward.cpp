// SPDX-License-Identifier: Apache-2.0
// Backward pass. dx holds the gradient of the residual stream and is carried from the last layer to the first; frozen
// weights get no gradient, adapters add theirs to the block. Norm outputs and SwiGLU outputs are made again from what
// was kept (cheap), layers that were not kept are run forward again first.
#include <cstddef>

#include "core/model/transformer_impl.h"

namespace lorikeet {

void Transformer::Impl::linear_back(std::int64_t layer, std::size_t which, TensorView dy, TensorView x,
                                    const Activations& act, TensorView gradients, TensorView dx_out, Write write) {
  const Weight& weight = linear_weight(model.layers()[static_cast<std::size_t>(layer)], which);
  const LoraModule* module = lora[static_cast<std::size_t>(layer)][which];
  if (!module) {
    if (dx_out) backend.linear_backward(dy, x, weight, nullptr, nullptr, dx_out, write);
    return;
  }
  // The gradient block is laid out as the adapter's parameters, so a tensor's gradient sits at the same distance.
  const auto same_place = [&](TensorView parameter) {
    const std::ptrdiff_t offset = parameter.as<char>() - adapter->parameters().as<char>();
    return TensorView{gradients.as<char>() + offset, DType::f32, parameter.shape};
  };
  const LoraTerm term{module->a, module->b, static_cast<float>(module->scale), act.xa[which]};
  const LoraGradient gradient{same_place(module->a), same_place(module->b)};
  backend.linear_backward(dy, x, weight, &term, &gradient, dx_out, write);
}

void Transformer::Impl::backward_mlp(std::int64_t layer, const Activations& act, TensorView gradients) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  backend.glu_forward(act.gate, act.up, inner);
  linear_back(layer, down_proj, dx, inner, act, gradients, dinner, Write::overwrite);
  // The gradients of gate and up take the place of gate and up: nothing reads those again.
  backend.glu_backward(dinner, act.gate, act.up, act.gate, act.up, {});
  backend.rms_norm_forward(act.middle, weights.post_attention_norm, static_cast<float>(spec.rms_epsilon), norm, act.rstd_2);
  linear_back(layer, gate_proj, act.gate, norm, act, gradients, dnorm, Write::overwrite);
  linear_back(layer, up_proj, act.up, norm, act, gradients, dnorm, Write::accumulate);
  backend.rms_norm_backward(dnorm, act.middle, weights.post_attention_norm, act.rstd_2, dx, Write::accumulate);
}

void Transformer::Impl::backward_attention(std::int64_t layer, TensorView x, const Activations& act,
                                           TensorView gradients) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  linear_back(layer, o_proj, dx, act.attention, act, gradients, dattention, Write::overwrite);
  backend.attention_backward(dattention, act.q, act.k, act.v, act.attention, act.lse, batch.rows, attention_shape, dq, dk,
                             dv);
  rotate(dq, spec.heads, true);
  rotate(dk, spec.kv_heads, true);
  backend.rms_norm_forward(x, weights.input_norm, static_cast<float>(spec.rms_epsilon), norm, act.rstd_1);
  // Below the first layer nothing is trained: its input needs no gradient.
  const bool needs_dx = layer > 0;
  const TensorView into = needs_dx ? dnorm : TensorView{};
  linear_back(layer, q_proj, dq, norm, act, gradients, into, Write::overwrite);
  linear_back(layer, k_proj, dk, norm, act, gradients, into, Write::accumulate);
  linear_back(layer, v_proj, dv, norm, act, gradients, into, Write::accumulate);
  if (needs_dx) backend.rms_norm_backward(dnorm, x, weights.input_norm, act.rstd_1, dx, Write::accumulate);
}

void Transformer::Impl::backward(TensorView gradients, const std::function<void()>& between) {
  backend.rms_norm_backward(head_gradient, head_rows, model.final_norm(), head_rstd, head_norm, Write::overwrite);
  backend.scatter_rows(head_norm, batch.labels, dx);
  for (std::int64_t layer = spec.layers - 1; layer >= 0; --layer) {
    if (between) between();
    const auto i = static_cast<std::size_t>(layer);
    Activations& act = activations_for(layer, true);
    if (!options.keep[i]) forward_layer(layer, inputs[i], act, {});
    backward_mlp(layer, act, gradients);
    backward_attention(layer, inputs[i], act, gradients);
  }
}

}  // namespace lorikeet
