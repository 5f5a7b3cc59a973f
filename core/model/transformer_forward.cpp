// SPDX-License-Identifier: Apache-2.0
// Forward pass of the Llama family (formats.md §1.3):
//   x0 = embedding[ids];  for each layer: middle = x + Wo attention(rope(Wq n), rope(Wk n), Wv n), n =
//   norm(x); x = middle + Wdown(silu(Wgate m) * (Wup m)), m = norm(middle).
#include "core/model/transformer_impl.h"

namespace lorikeet {

Activations& Transformer::Impl::activations_for(std::int64_t layer, bool with_gradient) {
  const auto i = static_cast<std::size_t>(layer);
  if (with_gradient && options.keep[i]) return kept[i];
  // The recomputation leaves out down_proj, so its X A^T stays where the first pass left it.
  if (with_gradient && down_xa[i]) scratch.xa[down_proj] = down_xa[i];
  return scratch;
}

LoraTerm Transformer::Impl::term(std::int64_t layer, std::size_t which, const Activations& act) const {
  const LoraModule& module = *lora[static_cast<std::size_t>(layer)][which];
  // Layers may differ in their ranks; the room is that of the largest.
  const TensorView& room = act.xa[which];
  const TensorView xa{room.data, room.dtype, {room.rows(), module.rank}, room.row_stride};
  LoraTerm result{module.a, module.b, static_cast<float>(module.scale), xa};
  if (batch.keys && options.dropout != 0) {
    const auto place = static_cast<std::uint32_t>(layer * static_cast<std::int64_t>(linear_count)) +
                       static_cast<std::uint32_t>(which);
    result.dropout = {options.dropout, batch.keys, place};
  }
  return result;
}

void Transformer::Impl::embed() {
  backend.embedding_forward(model.embedding(), batch.ids, inputs[0]);
  if (batch.noise) backend.add_noise(inputs[0], batch.keys, batch.noise);
}

void Transformer::Impl::rotate(TensorView q, TensorView k, bool inverse) {
  backend.rope_pair(q.reshaped({batch.tokens, spec.heads, spec.head_dim}),
                    k.reshaped({batch.tokens, spec.kv_heads, spec.head_dim}), batch.rows.positions,
                    model.rope_cosine(), model.rope_sine(), inverse);
}

void Transformer::Impl::linear(std::int64_t layer, std::initializer_list<Part> parts, TensorView x,
                               const Activations& act, TensorView residual) {
  const auto i = static_cast<std::size_t>(layer);
  std::array<LoraTerm, 3> terms;
  std::array<LinearPart, 3> group;
  std::size_t count = 0;
  bool scaled = false;
  for (const Part& part : parts) {
    const bool adapted = lora[i][part.which] != nullptr;
    if (adapted) terms[count] = term(layer, part.which, act);
    const DoraModule* magnitude = adapted ? dora->find(layer, part.which) : nullptr;
    scaled = scaled || magnitude;
    group[count] = {magnitude ? &magnitude->bare : &linear_weight(model.layers()[i], part.which),
                    {&terms[count], adapted ? 1u : 0u},
                    part.y};
    ++count;
  }
  // A residual belongs to the only part; what a gain scales must not hold it yet.
  backend.linear_group_forward(x, {group.data(), count}, scaled ? TensorView{} : residual);
  for (const Part& part : parts) {
    if (const DoraModule* magnitude = scaled ? dora->find(layer, part.which) : nullptr)
      backend.scale_columns(part.y, magnitude->gain, magnitude->bias, residual, part.y);
  }
}

void Transformer::Impl::forward_layer(std::int64_t layer, TensorView x, const Activations& act,
                                      TensorView next) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  const auto epsilon = static_cast<float>(spec.rms_epsilon);
  backend.rms_norm_forward(x, weights.input_norm, epsilon, norm, act.rstd_1);
  linear(layer, {{q_proj, act.q}, {k_proj, act.k}, {v_proj, act.v}}, norm, act, {});
  rotate(act.q, act.k, false);
  backend.attention_forward(act.q, act.k, act.v, batch.rows, attention_shape, act.attention, act.lse);
  linear(layer, {{o_proj, act.middle}}, act.attention, act, x);
  backend.rms_norm_forward(act.middle, weights.post_attention_norm, epsilon, norm, act.rstd_2);
  linear(layer, {{gate_proj, act.gate}, {up_proj, act.up}}, norm, act, {});
  if (!next) return;
  backend.glu_forward(act.gate, act.up, inner);
  linear(layer, {{down_proj, next}}, inner, act, act.middle);
}

void Transformer::Impl::forward(bool with_gradient, const std::function<void()>& between) {
  const Pass pass = with_gradient ? Pass::forward : Pass::evaluation;
  const auto look = [&] {
    if (between) between();
  };
  const auto one = [&](std::int64_t layer) {
    const auto i = static_cast<std::size_t>(layer);
    forward_layer(layer, inputs[i], activations_for(layer, with_gradient), inputs[i + 1]);
  };
  if (!with_gradient || !options.offload) {
    const bool at_once = backend.asynchronous();
    if (at_once) look();
    return backend.repeat(key(pass, -1, {}), [&] {
      embed();
      for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
        if (!at_once) look();
        one(layer);
      }
    });
  }
  offloaded.make_room(0);
  embed();
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    look();
    const auto i = static_cast<std::size_t>(layer);
    offloaded.leave(i, inputs[i]);
    offloaded.make_room(i + 1);
    backend.repeat(key(pass, layer, {}), [&] { one(layer); });
  }
}

}  // namespace lorikeet
