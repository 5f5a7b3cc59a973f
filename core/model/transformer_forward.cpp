// SPDX-License-Identifier: Apache-2.0
// Forward pass (formats.md §1.3). Llama and most others, n(x) the norm:
//   x0 = embedding[ids];  for each layer: m = x + Wo attention(rope(Wq n(x)), rope(Wk n(x)), Wv n(x));
//   x = m + Wdown(silu(Wgate n(m)) * (Wup n(m))).
// What BlockKind, MlpKind and the other fields of ModelSpec change stands at each function.
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
  const LoraBranch& branch = lora[static_cast<std::size_t>(layer)][which];
  const LoraModule& module = *branch.module;
  // Layers may differ in their ranks; the room is that of the largest.
  const TensorView& room = act.xa[which];
  const TensorView xa{room.data, room.dtype, {room.rows(), module.rank}, room.row_stride};
  LoraTerm result{branch.a, branch.b, static_cast<float>(module.scale), xa};
  if (batch.keys && options.dropout != 0) {
    // Parts of a fused layer read the same input, so they see the same mask.
    const auto place = static_cast<std::uint32_t>(layer * static_cast<std::int64_t>(linear_count)) +
                       static_cast<std::uint32_t>(module.rows.front().role);
    result.dropout = {options.dropout, batch.keys, place};
  }
  return result;
}

void Transformer::Impl::embed() {
  backend.embedding_forward(model.embedding(), batch.ids, inputs[0]);
  if (batch.noise) backend.add_noise(inputs[0], batch.keys, batch.noise);
  if (embedding_factor) backend.scale_columns(inputs[0], embedding_factor, {}, {}, inputs[0]);
}

void Transformer::Impl::normalise(std::int64_t layer, NormRole role, TensorView x, TensorView y,
                                  const Activations& act) {
  norm_forward(backend, spec, model.layers()[static_cast<std::size_t>(layer)].norms[role], x, y,
               act.mean[role], act.rstd[role]);
}

void Transformer::Impl::rotate(TensorView q, TensorView k, bool inverse) {
  backend.rope_pair(q.reshaped({batch.tokens, spec.heads, spec.head_dim}),
                    k.reshaped({batch.tokens, spec.kv_heads, spec.head_dim}), batch.rows.positions,
                    model.rope_cosine(), model.rope_sine(), inverse);
}

void Transformer::Impl::linear(std::int64_t layer, std::span<const Part> parts, TensorView x,
                               const Activations& act, TensorView residual) {
  const auto i = static_cast<std::size_t>(layer);
  if (drops_with_magnitude()) {
    for (const Part& part : parts) linear_dropped(layer, part, x, act, residual);
    return;
  }
  std::array<LoraTerm, 3> terms;
  std::array<LinearPart, 3> group;
  std::size_t count = 0;
  bool scaled = false;
  for (const Part& part : parts) {
    const bool adapted = static_cast<bool>(lora[i][part.which]);
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

namespace {

/// A matrix of this width in working room that fits a wider one.
TensorView narrowed(TensorView room, std::int64_t width) {
  return {room.data, room.dtype, {room.rows(), width}};
}

}  // namespace

void Transformer::Impl::linear_dropped(std::int64_t layer, const Part& part, TensorView x,
                                       const Activations& act, TensorView residual) {
  const auto i = static_cast<std::size_t>(layer);
  const DoraModule* magnitude = dora->find(layer, part.which);
  LinearPart plain{&linear_weight(model.layers()[i], part.which), {}, part.y};
  if (!magnitude) return backend.linear_group_forward(x, {&plain, 1}, residual);
  LoraTerm branch = term(layer, part.which, act);
  const LoraDropout dropout = branch.dropout;
  branch.dropout = {};
  const TensorView seen = narrowed(dropped, x.columns()), other = narrowed(rest, x.columns());
  backend.split_dropout(x, dropout, seen, other);
  backend.linear_forward(seen, magnitude->bare, {&branch, 1}, products[part.which], Write::overwrite);
  backend.linear_group_forward(other, {&plain, 1}, residual);
  backend.scale_columns(products[part.which], magnitude->gain, {}, part.y, part.y);
}

void Transformer::Impl::linear_dropped_back(std::int64_t layer, const Part& part, TensorView x,
                                            const Activations& act, TensorView gradients, TensorView dx_out,
                                            Write write) {
  const auto i = static_cast<std::size_t>(layer);
  const Weight& weight = linear_weight(model.layers()[i], part.which);
  const DoraModule* magnitude = dora->find(layer, part.which);
  if (!magnitude) {
    if (dx_out) backend.linear_backward(part.y, x, weight, nullptr, nullptr, dx_out, write);
    return;
  }
  LoraTerm branch = term(layer, part.which, act);
  const LoraDropout dropout = branch.dropout;
  branch.dropout = {};
  const TensorView seen = narrowed(dropped, x.columns()), z = products[part.which];
  backend.split_dropout(x, dropout, seen, {});
  backend.linear_forward(seen, magnitude->bare, {&branch, 1}, z, Write::overwrite);
  backend.scale_columns_backward(part.y, z, magnitude->gain, magnitude->norms,
                                 gradient_of(magnitude->lora.m, gradients), z);
  const LoraGradient sums{gradient_of(branch.a, gradients), gradient_of(branch.b, gradients)};
  const TensorView dseen = dx_out ? narrowed(ddropped, x.columns()) : TensorView{};
  backend.linear_backward(z, seen, magnitude->bare, &branch, &sums, dseen, Write::overwrite);
  if (!dx_out) return;
  const TensorView dother = narrowed(rest, x.columns());
  backend.linear_backward(part.y, seen, weight, nullptr, nullptr, dother, Write::overwrite);
  backend.split_dropout_backward(dseen, dother, dropout, dx_out, write);
}

Transformer::Impl::QueryKey Transformer::Impl::make_query_key(std::int64_t layer, const Activations& act) {
  QueryKey made{act.q, act.k};
  if (spec.qk_norm) {
    made = {rotated_q, rotated_k};
    normalise(layer, q_norm, act.q, made.q, act);
    normalise(layer, k_norm, act.k, made.k, act);
  }
  rotate(made.q, made.k, false);
  return made;
}

void Transformer::Impl::join(std::int64_t layer, Linear which, TensorView x, TensorView residual,
                             const Activations& act, TensorView to) {
  if (spec.block != BlockKind::sandwich) return linear(layer, std::array{Part{which, to}}, x, act, residual);
  const bool of_mlp = which == down_proj;
  const TensorView output = of_mlp ? act.mlp_output : act.attention_output;
  linear(layer, std::array{Part{which, output}}, x, act, {});
  normalise(layer, of_mlp ? mlp_output_norm : attention_output_norm, output, norm, act);
  if (!to) return;
  backend.copy(to, residual);
  backend.add(to, norm);
}

std::span<const Transformer::Impl::Part> Transformer::Impl::mlp_parts(const Activations& act,
                                                                      std::array<Part, 2>& room) const {
  room = {Part{gate_proj, act.gate}, Part{up_proj, act.up}};
  return std::span(room).subspan(spec.has_gate() ? 0 : 1);
}

void Transformer::Impl::forward_layer(std::int64_t layer, TensorView x, const Activations& act,
                                      TensorView next) {
  normalise(layer, attention_norm, x, norm, act);
  linear(layer, std::array{Part{q_proj, act.q}, Part{k_proj, act.k}, Part{v_proj, act.v}}, norm, act, {});
  const QueryKey rotated = make_query_key(layer, act);
  backend.attention_forward(rotated.q, rotated.k, act.v, batch.rows, attention_shape_of(spec, layer),
                            act.attention, act.lse);
  const bool parallel = spec.block == BlockKind::parallel;
  std::array<Part, 2> room;
  if (parallel) linear(layer, mlp_parts(act, room), norm, act, {});
  join(layer, o_proj, act.attention, x, act, act.middle);
  if (!parallel) {
    normalise(layer, mlp_norm, act.middle, norm, act);
    linear(layer, mlp_parts(act, room), norm, act, {});
  }
  // For its backward a layer needs no output, only what stands before the output's norm.
  if (!next && spec.block != BlockKind::sandwich) return;
  activate(backend, spec, act.gate, act.up, inner);
  join(layer, down_proj, inner, act.middle, act, next);
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
