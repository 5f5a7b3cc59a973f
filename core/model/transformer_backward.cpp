// SPDX-License-Identifier: Apache-2.0
// Backward pass. dx holds the gradient of the residual stream and is carried from the last layer to the
// first; frozen weights get no gradient, adapters add theirs to the block. Norm outputs and SwiGLU outputs
// are made again from what was kept (cheap), layers that were not kept are run forward again first.
#include <cstddef>

#include "core/model/transformer_impl.h"

namespace lorikeet {

TensorView Transformer::Impl::gradient_of(TensorView parameter, TensorView gradients) const {
  // The gradient block is laid out as the adapter's parameters, so a tensor's gradient sits at the same
  // distance.
  const std::ptrdiff_t offset = parameter.as<char>() - adapter->parameters().as<char>();
  return {gradients.as<char>() + offset, DType::f32, parameter.shape};
}

void Transformer::Impl::magnitudes_back(std::int64_t layer, std::initializer_list<Part> parts, TensorView x,
                                        const Activations& act, TensorView gradients,
                                        std::span<LinearBackwardPart> group) {
  std::array<LoraTerm, 3> terms;
  std::array<LinearPart, 3> again;
  std::size_t count = 0;
  for (const Part& part : parts) {
    const DoraModule* magnitude = dora->find(layer, part.which);
    if (!magnitude) continue;
    terms[count] = term(layer, part.which, act);
    again[count] = {&magnitude->bare, {&terms[count], 1u}, products[part.which]};
    ++count;
  }
  if (count == 0) return;
  backend.linear_group_forward(x, {again.data(), count}, {});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Linear which = parts.begin()[i].which;
    const DoraModule* magnitude = dora->find(layer, which);
    if (!magnitude) continue;
    // The residual stream's own gradient goes on from here, the others are not wanted any more.
    const bool is_stream = which == o_proj || which == down_proj;
    const TensorView dz = is_stream ? products[which] : group[i].dy;
    backend.scale_columns_backward(group[i].dy, products[which], magnitude->gain, magnitude->norms,
                                   gradient_of(magnitude->lora->m, gradients), dz);
    group[i].dy = dz;
  }
}

void Transformer::Impl::linear_back(std::int64_t layer, std::initializer_list<Part> parts, TensorView x,
                                    const Activations& act, TensorView gradients, TensorView dx_out) {
  const auto i = static_cast<std::size_t>(layer);
  std::array<LoraTerm, 3> terms;
  std::array<LoraGradient, 3> sums;
  std::array<LinearBackwardPart, 3> group;
  std::size_t count = 0;
  bool any_adapted = false;
  for (const Part& part : parts) {
    const LoraModule* module = lora[i][part.which];
    group[count] = {part.y, &linear_weight(model.layers()[i], part.which), nullptr, nullptr};
    if (module) {
      terms[count] = term(layer, part.which, act);
      sums[count] = {gradient_of(module->a, gradients), gradient_of(module->b, gradients)};
      group[count].lora = &terms[count];
      group[count].gradient = &sums[count];
      any_adapted = true;
    }
    ++count;
  }
  if (any_adapted) magnitudes_back(layer, parts, x, act, gradients, {group.data(), count});
  if (any_adapted || dx_out)
    backend.linear_group_backward({group.data(), count}, x, dx_out, Write::overwrite);
}

void Transformer::Impl::backward_mlp(std::int64_t layer, const Activations& act, TensorView gradients) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  backend.glu_forward(act.gate, act.up, inner);
  linear_back(layer, {{down_proj, dx}}, inner, act, gradients, dinner);
  // The gradients of gate and up take the place of gate and up: nothing reads those again.
  backend.glu_backward(dinner, act.gate, act.up, act.gate, act.up, {});
  backend.rms_norm_forward(act.middle, weights.post_attention_norm, static_cast<float>(spec.rms_epsilon),
                           norm, act.rstd_2);
  linear_back(layer, {{gate_proj, act.gate}, {up_proj, act.up}}, norm, act, gradients, dnorm);
  backend.rms_norm_backward(dnorm, act.middle, weights.post_attention_norm, act.rstd_2, dx,
                            Write::accumulate);
}

void Transformer::Impl::backward_attention(std::int64_t layer, TensorView x, const Activations& act,
                                           TensorView gradients) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  linear_back(layer, {{o_proj, dx}}, act.attention, act, gradients, dattention);
  backend.attention_backward(dattention, act.q, act.k, act.v, act.attention, act.lse, batch.rows,
                             attention_shape, dq, dk, dv);
  rotate(dq, dk, true);
  backend.rms_norm_forward(x, weights.input_norm, static_cast<float>(spec.rms_epsilon), norm, act.rstd_1);
  // Below the first layer nothing is trained: its input needs no gradient.
  const bool needs_dx = layer > 0;
  linear_back(layer, {{q_proj, dq}, {k_proj, dk}, {v_proj, dv}}, norm, act, gradients,
              needs_dx ? dnorm : TensorView{});
  if (needs_dx) backend.rms_norm_backward(dnorm, x, weights.input_norm, act.rstd_1, dx, Write::accumulate);
}

void Transformer::Impl::backward_layer(std::int64_t layer, TensorView gradients) {
  const auto i = static_cast<std::size_t>(layer);
  const Activations& act = activations_for(layer, true);
  // Of the last layer the forward left all in `scratch`, where nothing has been since.
  if (!options.keep[i] && layer + 1 < spec.layers) forward_layer(layer, inputs[i], act, {});
  backward_mlp(layer, act, gradients);
  backward_attention(layer, inputs[i], act, gradients);
}

void Transformer::Impl::backward(TensorView gradients, const std::function<void()>& between) {
  const auto look = [&] {
    if (between) between();
  };
  if (!options.offload) {
    const bool at_once = backend.asynchronous();
    if (at_once) look();
    return backend.repeat(key(Pass::backward, -1, gradients), [&] {
      for (std::int64_t layer = spec.layers - 1; layer >= 0; --layer) {
        if (!at_once) look();
        backward_layer(layer, gradients);
      }
    });
  }
  for (std::int64_t layer = spec.layers - 1; layer >= 0; --layer) {
    look();
    const auto i = static_cast<std::size_t>(layer);
    offloaded.fetch(i, inputs[i]);
    offloaded.arrive(i);
    if (i > 0) offloaded.fetch(i - 1, inputs[i - 1]);
    backend.repeat(key(Pass::backward, layer, gradients), [&] { backward_layer(layer, gradients); });
  }
}

}  // namespace lorikeet
