// SPDX-License-Identifier: Apache-2.0
// Forward pass of the Llama family (formats.md §1.3):
//   x0 = embedding[ids];  for each layer: middle = x + Wo attention(rope(Wq n), rope(Wk n), Wv n), n = norm(x);
//   x = middle + Wdown(silu(Wgate m) * (Wup m)), m = norm(middle);  loss = cross entropy of head(norm(x)).
#include "core/model/transformer.h"

#include <cmath>

#include "core/data/packing.h"
#include "core/model/activation_plan.h"
#include "core/model/transformer_impl.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

Tensor allocate_arena(const BaseModel& model, const LoraAdapter* adapter, const Transformer::Options& options) {
  ActivationShape shape;
  shape.tokens = options.max_tokens;
  shape.compute_bytes = static_cast<std::int64_t>(size_of(options.compute));
  for (const bool keep : options.keep) shape.kept_layers += keep ? 1 : 0;
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(model.spec().layers));
  if (adapter) {
    for (const auto& module : adapter->modules()) {
      ranks[static_cast<std::size_t>(module.layer)] += module.rank;
      if (module.name == linear_names[down_proj]) shape.down_rank = std::max(shape.down_rank, module.rank);
    }
  }
  for (const std::int64_t sum : ranks) shape.layer_ranks = std::max(shape.layer_ranks, sum);
  return model.backend().allocate({static_cast<std::int64_t>(activation_bytes(model.spec(), shape))}, DType::u8);
}

}  // namespace

const Weight& linear_weight(const LayerWeights& layer, std::size_t which) {
  const std::array<const Weight*, linear_count> all = {&layer.q,    &layer.k,  &layer.v,   &layer.o,
                                                       &layer.gate, &layer.up, &layer.down};
  return *all[which];
}

Transformer::Impl::Impl(BaseModel& base, const LoraAdapter* the_adapter, Options given)
    : model(base),
      backend(base.backend()),
      spec(base.spec()),
      adapter(the_adapter),
      options(std::move(given)),
      arena(allocate_arena(base, the_adapter, options)),
      sums(backend.allocate({2}, DType::f64)) {
  if (options.keep.size() != static_cast<std::size_t>(spec.layers)) {
    throw Error(ErrorCode::invalid_argument, "Options::keep must have one entry per layer");
  }
  attention_shape = {spec.heads, spec.kv_heads, spec.head_dim,
                     static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.head_dim))), spec.sliding_window};
  lora.resize(static_cast<std::size_t>(spec.layers));
  for (std::int64_t layer = 0; adapter && layer < spec.layers; ++layer) {
    for (std::size_t which = 0; which < linear_count; ++which) {
      lora[static_cast<std::size_t>(layer)][which] = adapter->find(layer, linear_names[which]);
    }
  }
}

TensorView Transformer::Impl::take(std::int64_t width) { return arena.take({batch.tokens, width}, options.compute); }

Activations Transformer::Impl::take_activations(std::int64_t layer) {
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  Activations act;
  act.q = take(query);
  act.k = take(key);
  act.v = take(key);
  act.attention = take(query);
  act.middle = take(spec.hidden_size);
  act.gate = take(spec.intermediate_size);
  act.up = take(spec.intermediate_size);
  act.lse = arena.take({batch.tokens, spec.heads}, DType::f32);
  act.rstd_1 = arena.take({batch.tokens}, DType::f32);
  act.rstd_2 = arena.take({batch.tokens}, DType::f32);
  for (std::size_t which = 0; which < linear_count; ++which) {
    const LoraModule* module = lora[static_cast<std::size_t>(layer)][which];
    if (module) act.xa[which] = take(module->rank);
  }
  return act;
}

void Transformer::Impl::lay_out(const TokenBatch& host, bool with_gradient) {
  batch = {};
  batch.tokens = static_cast<std::int64_t>(host.ids.size());
  if (batch.tokens == 0 || batch.tokens > options.max_tokens) {
    throw Error(ErrorCode::invalid_argument, "A batch of " + std::to_string(batch.tokens) + " tokens does not fit the " +
                                                 std::to_string(options.max_tokens) + " planned");
  }
  arena.rewind(0);
  const auto put = [&](const std::vector<std::int32_t>& values) {
    TensorView view = arena.take({static_cast<std::int64_t>(values.size())}, DType::i32);
    if (!values.empty()) backend.upload(view, values.data());
    return view;
  };
  std::vector<std::int32_t> labels, targets;
  for (std::size_t t = 0; t < host.targets.size(); ++t) {
    if (host.targets[t] < 0) continue;
    labels.push_back(static_cast<std::int32_t>(t));
    targets.push_back(host.targets[t]);
  }
  batch.label_count = static_cast<std::int64_t>(labels.size());
  batch.ids = put(host.ids);
  batch.labels = put(labels);
  batch.targets = put(targets);
  batch.rows = {put(host.cu_seqlens), put(host.positions), static_cast<std::int64_t>(host.cu_seqlens.size()) - 1,
                host.longest};

  inputs.clear();
  for (std::int64_t layer = 0; layer <= spec.layers; ++layer) inputs.push_back(take(spec.hidden_size));
  norm = take(spec.hidden_size);
  inner = take(spec.intermediate_size);
  head_rows = arena.take({batch.label_count, spec.hidden_size}, options.compute);
  head_norm = arena.take({batch.label_count, spec.hidden_size}, options.compute);
  head_rstd = arena.take({batch.label_count}, DType::f32);
  kept.assign(static_cast<std::size_t>(spec.layers), {});
  down_xa.assign(static_cast<std::size_t>(spec.layers), {});
  if (with_gradient) {
    head_gradient = arena.take({batch.label_count, spec.hidden_size}, options.compute);
    dx = take(spec.hidden_size);
    dnorm = take(spec.hidden_size);
    dinner = take(spec.intermediate_size);
    dattention = take(spec.heads * spec.head_dim);
    dq = take(spec.heads * spec.head_dim);
    dk = take(spec.kv_heads * spec.head_dim);
    dv = take(spec.kv_heads * spec.head_dim);
    for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
      const auto i = static_cast<std::size_t>(layer);
      if (options.keep[i]) kept[i] = take_activations(layer);
      else if (lora[i][down_proj]) down_xa[i] = take(lora[i][down_proj]->rank);
    }
  }
  scratch_mark = arena.mark();
}

Activations& Transformer::Impl::activations_for(std::int64_t layer, bool with_gradient) {
  const auto i = static_cast<std::size_t>(layer);
  if (with_gradient && options.keep[i]) return kept[i];
  // Laid out anew, since layers may differ in their adapters; always at the end of the arena.
  arena.rewind(scratch_mark);
  scratch = take_activations(layer);
  if (with_gradient && down_xa[i]) scratch.xa[down_proj] = down_xa[i];
  return scratch;
}

void Transformer::Impl::rotate(TensorView heads, std::int64_t count, bool inverse) {
  backend.rope(heads.reshaped({batch.tokens, count, spec.head_dim}), batch.rows.positions, model.rope_cosine(),
               model.rope_sine(), inverse);
}

void Transformer::Impl::linear(std::int64_t layer, std::size_t which, TensorView x, const Activations& act, TensorView y,
                               Write write) {
  const Weight& weight = linear_weight(model.layers()[static_cast<std::size_t>(layer)], which);
  const LoraModule* module = lora[static_cast<std::size_t>(layer)][which];
  if (!module) return backend.linear_forward(x, weight, {}, y, write);
  const LoraTerm term{module->a, module->b, static_cast<float>(module->scale), act.xa[which]};
  backend.linear_forward(x, weight, {&term, 1}, y, write);
}

void Transformer::Impl::forward_layer(std::int64_t layer, TensorView x, const Activations& act, TensorView next) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
  const auto epsilon = static_cast<float>(spec.rms_epsilon);
  backend.rms_norm_forward(x, weights.input_norm, epsilon, norm, act.rstd_1);
  linear(layer, q_proj, norm, act, act.q, Write::overwrite);
  linear(layer, k_proj, norm, act, act.k, Write::overwrite);
  linear(layer, v_proj, norm, act, act.v, Write::overwrite);
  rotate(act.q, spec.heads, false);
  rotate(act.k, spec.kv_heads, false);
  backend.attention_forward(act.q, act.k, act.v, batch.rows, attention_shape, act.attention, act.lse);
  backend.copy(act.middle, x);
  linear(layer, o_proj, act.attention, act, act.middle, Write::accumulate);
  backend.rms_norm_forward(act.middle, weights.post_attention_norm, epsilon, norm, act.rstd_2);
  linear(layer, gate_proj, norm, act, act.gate, Write::overwrite);
  linear(layer, up_proj, norm, act, act.up, Write::overwrite);
  if (!next) return;
  backend.glu_forward(act.gate, act.up, inner);
  backend.copy(next, act.middle);
  linear(layer, down_proj, inner, act, next, Write::accumulate);
}

void Transformer::Impl::forward(bool with_gradient, const std::function<void()>& between) {
  backend.embedding_forward(model.embedding(), batch.ids, inputs[0]);
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (between) between();
    const auto i = static_cast<std::size_t>(layer);
    forward_layer(layer, inputs[i], activations_for(layer, with_gradient), inputs[i + 1]);
  }
}

BatchLoss Transformer::Impl::head(float grad_scale, bool with_gradient) {
  const auto epsilon = static_cast<float>(spec.rms_epsilon);
  BatchLoss loss;
  loss.trained_tokens = batch.label_count;
  backend.fill_zero(sums);
  if (batch.label_count > 0) {
    backend.gather_rows(inputs.back(), batch.labels, head_rows);
    backend.rms_norm_forward(head_rows, model.final_norm(), epsilon, head_norm, head_rstd);
    backend.head_cross_entropy(head_norm, model.head(), batch.targets, grad_scale, sums,
                               with_gradient ? head_gradient : TensorView{});
  }
  double values[2] = {0, 0};
  backend.download(values, sums);
  loss.loss_sum = values[0];
  loss.correct = static_cast<std::int64_t>(values[1]);
  return loss;
}

BatchLoss Transformer::Impl::run(const TokenBatch& host, float grad_scale, TensorView gradients,
                                 const std::function<void()>& between) {
  const bool with_gradient = static_cast<bool>(gradients);
  lay_out(host, with_gradient);
  forward(with_gradient, between);
  const BatchLoss loss = head(grad_scale, with_gradient);
  if (with_gradient && batch.label_count > 0) backward(gradients, between);
  return loss;
}

Transformer::Transformer(BaseModel& model, const LoraAdapter* adapter, Options options)
    : impl_(std::make_unique<Impl>(model, adapter, std::move(options))) {}
Transformer::~Transformer() = default;

BatchLoss Transformer::evaluate(const TokenBatch& batch, const std::function<void()>& between) {
  return impl_->run(batch, 0, {}, between);
}

BatchLoss Transformer::forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients,
                                        const std::function<void()>& between) {
  return impl_->run(batch, grad_scale, gradients, between);
}

std::vector<float> Transformer::logits(const TokenBatch& batch) {
  Impl& impl = *impl_;
  impl.lay_out(batch, false);
  impl.forward(false, {});
  const std::int64_t tokens = impl.batch.tokens, vocabulary = impl.spec.vocab_size;
  Tensor rstd = impl.backend.allocate({tokens}, DType::f32);
  Tensor result = impl.backend.allocate({tokens, vocabulary}, DType::f32);
  impl.backend.rms_norm_forward(impl.inputs.back(), impl.model.final_norm(), static_cast<float>(impl.spec.rms_epsilon),
                                impl.norm, rstd);
  impl.backend.head_logits(impl.norm, impl.model.head(), result);
  std::vector<float> host(static_cast<std::size_t>(tokens * vocabulary));
  impl.backend.download(host.data(), result);
  return host;
}

std::size_t Transformer::arena_bytes() const { return impl_->arena.capacity_bytes(); }
std::size_t Transformer::arena_peak_bytes() const { return impl_->arena.peak_bytes(); }

}  // namespace lorikeet
