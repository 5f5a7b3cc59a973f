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

void Transformer::Impl::magnitudes_back(std::int64_t layer, std::span<const Part> parts, TensorView x,
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
    const Linear which = parts[i].which;
    const DoraModule* magnitude = dora->find(layer, which);
    if (!magnitude) continue;
    // The residual stream's own gradient goes on from here, the others are not wanted any more.
    const bool is_stream = which == o_proj || which == down_proj;
    const TensorView dz = is_stream ? products[which] : group[i].dy;
    backend.scale_columns_backward(group[i].dy, products[which], magnitude->gain, magnitude->norms,
                                   gradient_of(magnitude->lora.m, gradients), dz);
    group[i].dy = dz;
  }
}

void Transformer::Impl::linear_back(std::int64_t layer, std::span<const Part> parts, TensorView x,
                                    const Activations& act, TensorView gradients, TensorView dx_out,
                                    Write write) {
  const auto i = static_cast<std::size_t>(layer);
  if (drops_with_magnitude()) {
    for (const Part& part : parts) {
      linear_dropped_back(layer, part, x, act, gradients, dx_out, write);
      write = Write::accumulate;
    }
    return;
  }
  std::array<LoraTerm, 3> terms;
  std::array<LoraGradient, 3> sums;
  std::array<LinearBackwardPart, 3> group;
  std::size_t count = 0;
  bool any_adapted = false;
  for (const Part& part : parts) {
    const LoraBranch& branch = lora[i][part.which];
    group[count] = {part.y, &linear_weight(model.layers()[i], part.which), nullptr, nullptr};
    if (branch) {
      terms[count] = term(layer, part.which, act);
      sums[count] = {gradient_of(branch.a, gradients), gradient_of(branch.b, gradients)};
      group[count].lora = &terms[count];
      group[count].gradient = &sums[count];
      any_adapted = true;
    }
    ++count;
  }
  if (any_adapted) magnitudes_back(layer, parts, x, act, gradients, {group.data(), count});
  if (any_adapted || dx_out) backend.linear_group_backward({group.data(), count}, x, dx_out, write);
}

void Transformer::Impl::normalise_back(std::int64_t layer, NormRole role, TensorView dy, TensorView x,
                                       const Activations& act, TensorView dx_out, Write write) {
  norm_backward(backend, spec, model.layers()[static_cast<std::size_t>(layer)].norms[role], dy, x,
                act.mean[role], act.rstd[role], dx_out, write);
}

TensorView Transformer::Impl::join_back(std::int64_t layer, Linear which, const Activations& act) {
  if (spec.block != BlockKind::sandwich) return dx;
  const bool of_mlp = which == down_proj;
  normalise_back(layer, of_mlp ? mlp_output_norm : attention_output_norm, dx,
                 of_mlp ? act.mlp_output : act.attention_output, act, dnorm, Write::overwrite);
  return dnorm;
}

void Transformer::Impl::backward_mlp(std::int64_t layer, TensorView x, const Activations& act,
                                     TensorView gradients) {
  activate(backend, spec, act.gate, act.up, inner);
  linear_back(layer, std::array{Part{down_proj, join_back(layer, down_proj, act)}}, inner, act, gradients,
              dinner);
  // The gradients of gate and up take the place of gate and up: nothing reads those again.
  activate_backward(backend, spec, dinner, act.gate, act.up);
  std::array<Part, 2> room;
  if (spec.block == BlockKind::parallel) {
    // Attention reads the same norm and adds its part of dnorm.
    normalise(layer, attention_norm, x, norm, act);
    return linear_back(layer, mlp_parts(act, room), norm, act, gradients, layer > 0 ? dnorm : TensorView{});
  }
  normalise(layer, mlp_norm, act.middle, norm, act);
  linear_back(layer, mlp_parts(act, room), norm, act, gradients, dnorm);
  normalise_back(layer, mlp_norm, dnorm, act.middle, act, dx, Write::accumulate);
}

void Transformer::Impl::backward_attention(std::int64_t layer, TensorView x, const Activations& act,
                                           TensorView gradients) {
  const bool parallel = spec.block == BlockKind::parallel;
  linear_back(layer, std::array{Part{o_proj, join_back(layer, o_proj, act)}}, act.attention, act, gradients,
              dattention);
  const QueryKey rotated = spec.qk_norm ? make_query_key(layer, act) : QueryKey{act.q, act.k};
  backend.attention_backward(dattention, rotated.q, rotated.k, act.v, act.attention, act.lse, batch.rows,
                             attention_shape_of(spec, layer), dq, dk, dv);
  rotate(dq, dk, true);
  if (spec.qk_norm) {
    normalise_back(layer, q_norm, dq, act.q, act, dq, Write::overwrite);
    normalise_back(layer, k_norm, dk, act.k, act, dk, Write::overwrite);
  }
  if (!parallel) normalise(layer, attention_norm, x, norm, act);
  // Below the first layer nothing is trained: its input needs no gradient.
  const bool needs_dx = layer > 0;
  linear_back(layer, std::array{Part{q_proj, dq}, Part{k_proj, dk}, Part{v_proj, dv}}, norm, act, gradients,
              needs_dx ? dnorm : TensorView{}, parallel ? Write::accumulate : Write::overwrite);
  if (needs_dx) normalise_back(layer, attention_norm, dnorm, x, act, dx, Write::accumulate);
}

void Transformer::Impl::backward_layer(std::int64_t layer, TensorView gradients) {
  const auto i = static_cast<std::size_t>(layer);
  const Activations& act = activations_for(layer, true);
  // Of the last layer the forward left all in `scratch`, where nothing has been since.
  if (!options.keep[i] && layer + 1 < spec.layers) forward_layer(layer, inputs[i], act, {});
  backward_mlp(layer, inputs[i], act, gradients);
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
