// SPDX-License-Identifier: Apache-2.0
// The operations of a layer, in the order of core's Transformer with every layer recomputed: only the inputs
// of layers stay.
#include "tests/gpu/speed_state.h"

namespace lorikeet::speed {

/// Columns of q|k|v or gate|up.
TensorView SpeedModel::State::part(const Wide& wide, std::size_t linear) const {
  const std::int64_t q = shape.q_width(), kv = shape.kv_width();
  switch (linear) {
    case q_proj:
      return wide.view.column_range(0, q);
    case k_proj:
      return wide.view.column_range(q, kv);
    case v_proj:
      return wide.view.column_range(q + kv, kv);
    case gate_proj:
      return wide.view.column_range(0, shape.inner);
    default:
      return wide.view.column_range(shape.inner, shape.inner);
  }
}

void SpeedModel::State::layer_to_gate_up(std::size_t index, TensorView x) {
  const Layer& layer = layers[index];
  const auto linear = [&](std::size_t i, TensorView y) {
    return LinearPart{&layer.weights[i], {&layer.lora[i], 1}, y};
  };
  backend.rms_norm_forward(x, layer.norm_1, 1e-5f, norm.view, rstd_1);
  const TensorView q = part(qkv, q_proj), k = part(qkv, k_proj), v = part(qkv, v_proj);
  backend.linear_group_forward(norm.view, std::array{linear(q_proj, q), linear(k_proj, k), linear(v_proj, v)},
                               {});
  backend.rope_pair(heads_of(q, shape.heads), heads_of(k, shape.kv_heads), positions, cosine, sine, false);
  backend.attention_forward(q, k, v, rows, attention_shape(), attention.view, lse);
  backend.linear_group_forward(attention.view, std::array{linear(o_proj, middle)}, x);
  backend.rms_norm_forward(middle, layer.norm_2, 1e-5f, middle_norm.view, rstd_2);
  backend.linear_group_forward(
      middle_norm.view,
      std::array{linear(gate_proj, part(gate_up, gate_proj)), linear(up_proj, part(gate_up, up_proj))}, {});
  backend.glu_forward(part(gate_up, gate_proj), part(gate_up, up_proj), h.view);
}

void SpeedModel::State::layer_forward(std::size_t index, TensorView x, TensorView out) {
  layer_to_gate_up(index, x);
  const Layer& layer = layers[index];
  const LinearPart down{&layer.weights[down_proj], {&layer.lora[down_proj], 1}, out};
  backend.linear_group_forward(h.view, {&down, 1}, middle);
}

void SpeedModel::State::layer_backward(std::size_t index, TensorView x) {
  const Layer& layer = layers[index];
  const auto linear = [&](std::size_t i, TensorView dy) {
    return LinearBackwardPart{dy, &layer.weights[i], &layer.lora[i], &layer.gradients[i]};
  };
  layer_to_gate_up(index, x);
  // The forward's down projection is not run again: its x A^T is all that its gradients need.
  const TensorView gate = part(gate_up, gate_proj), up = part(gate_up, up_proj);
  backend.linear_group_backward(std::array{linear(down_proj, dx.view)}, h.view, dh.view, Write::overwrite);
  backend.glu_backward(dh.view, gate, up, gate, up, {});
  backend.linear_group_backward(std::array{linear(gate_proj, gate), linear(up_proj, up)}, middle_norm.view,
                                dnorm, Write::overwrite);
  backend.rms_norm_backward(dnorm, middle, layer.norm_2, rstd_2, dx.view, Write::accumulate);
  backend.linear_group_backward(std::array{linear(o_proj, dx.view)}, attention.view, dattention.view,
                                Write::overwrite);
  const TensorView dq = part(dqkv, q_proj), dk = part(dqkv, k_proj), dv = part(dqkv, v_proj);
  backend.attention_backward(dattention.view, part(qkv, q_proj), part(qkv, k_proj), part(qkv, v_proj),
                             attention.view, lse, rows, attention_shape(), dq, dk, dv);
  backend.rope_pair(heads_of(dq, shape.heads), heads_of(dk, shape.kv_heads), positions, cosine, sine, true);
  backend.linear_group_backward(std::array{linear(q_proj, dq), linear(k_proj, dk), linear(v_proj, dv)},
                                norm.view, dnorm, Write::overwrite);
  backend.rms_norm_backward(dnorm, x, layer.norm_1, rstd_1, dx.view, Write::accumulate);
}

void SpeedModel::State::head(TensorView x) {
  backend.fill_zero(sums);
  backend.rms_norm_forward(x, final_norm, 1e-5f, head_norm, rstd_final);
  backend.head_cross_entropy(head_norm, head_weight(), targets, 1 / static_cast<float>(tokens), sums,
                             head_gradient);
  backend.rms_norm_backward(head_gradient, x, final_norm, rstd_final, dx.view, Write::overwrite);
}

void SpeedModel::State::chat_layer(std::size_t index, TensorView x, TensorView out, std::int64_t limit) {
  const Layer& layer = layers[index];
  const auto linear = [&](std::size_t i, TensorView y) {
    return LinearPart{&layer.weights[i], {&layer.lora[i], 1}, y};
  };
  backend.rms_norm_forward(x, layer.norm_1, 1e-5f, norm.view, rstd_1);
  const TensorView q = part(qkv, q_proj), k = part(qkv, k_proj), v = part(qkv, v_proj);
  backend.linear_group_forward(norm.view, std::array{linear(q_proj, q), linear(k_proj, k), linear(v_proj, v)},
                               {});
  backend.rope_append(heads_of(q, shape.heads), heads_of(k, shape.kv_heads), v, positions, cosine, sine,
                      k_cache[index], v_cache[index]);
  backend.attention_cached(q, k_cache[index], v_cache[index], positions, limit, attention_shape(),
                           attention.view);
  backend.linear_group_forward(attention.view, std::array{linear(o_proj, middle)}, x);
  backend.rms_norm_forward(middle, layer.norm_2, 1e-5f, middle_norm.view, rstd_2);
  backend.linear_group_forward(
      middle_norm.view,
      std::array{linear(gate_proj, part(gate_up, gate_proj)), linear(up_proj, part(gate_up, up_proj))}, {});
  backend.glu_forward(part(gate_up, gate_proj), part(gate_up, up_proj), h.view);
  backend.linear_group_forward(h.view, std::array{linear(down_proj, out)}, middle);
}

}  // namespace lorikeet::speed
