// SPDX-License-Identifier: Apache-2.0
// What a batch goes through: its indices to fixed places, the passes of transformer_forward.cpp and
// transformer_backward.cpp, and between them the head on label rows: loss = cross entropy of head(norm(x)).
#include "core/model/transformer.h"

#include <algorithm>
#include <cmath>

#include "core/data/packing.h"
#include "core/model/repeat_key.h"
#include "core/model/transformer_impl.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

ActivationShape shape_of(const BaseModel& model, const LoraAdapter* adapter,
                         const Transformer::Options& options) {
  if (options.keep.size() != static_cast<std::size_t>(model.spec().layers))
    throw Error(ErrorCode::invalid_argument, "Options::keep must have one entry per layer");
  ActivationShape shape;
  shape.device = layout_of(model.backend());
  shape.most_tokens = padded_tokens(shape.device, options.max_tokens);
  shape.tokens = shape.most_tokens;
  shape.compute = options.compute;
  shape.keep = options.keep;
  shape.with_gradient = adapter != nullptr;
  shape.offload = options.offload;
  shape.drops = options.dropout != 0;
  shape.draws = shape.drops || options.neftune != 0;
  shape.dora = adapter && adapter->config().dora;
  for (std::size_t which = 0; adapter && which < linear_count; ++which)
    shape.ranks[which] = adapter->largest_rank(which);
  return shape;
}

Tensor allocate_arena(const BaseModel& model, const ActivationShape& shape) {
  return model.backend().allocate({static_cast<std::int64_t>(activation_bytes(model.spec(), shape))},
                                  DType::u8);
}

OffloadedInputs make_offloaded(Backend& backend, const ActivationShape& shape, std::int64_t hidden) {
  if (!shape.offload || !shape.with_gradient) return {};
  std::vector<bool> layers = shape.keep;
  layers.flip();
  return {backend, std::move(layers),
          static_cast<std::size_t>(shape.most_tokens * hidden) * size_of(shape.compute)};
}

}  // namespace

DeviceLayout layout_of(const Backend& backend) {
  // Both kinds are known: the plan counts the same layout without the device.
  return backend.fuses_parts() ? cuda_layout : DeviceLayout{};
}

Transformer::Impl::Impl(BaseModel& base, const LoraAdapter* the_adapter, Options given)
    : model(base),
      backend(base.backend()),
      spec(base.spec()),
      adapter(the_adapter),
      options(std::move(given)),
      shape(shape_of(base, the_adapter, options)),
      arena(allocate_arena(base, shape)),
      embedding_factor(embedding_scale(backend, spec, options.compute)),
      own_sums(backend.allocate({2}, DType::f64)),
      offloaded(make_offloaded(backend, shape, spec.hidden_size)) {
  lora.resize(static_cast<std::size_t>(spec.layers));
  for (std::int64_t layer = 0; adapter && layer < spec.layers; ++layer) {
    for (std::size_t which = 0; which < linear_count; ++which) {
      lora[static_cast<std::size_t>(layer)][which] = adapter->branch(layer, which);
    }
  }
  if (adapter) dora.emplace(base, *adapter).refresh();
}

Transformer::Impl::~Impl() {
  backend.forget_repeats();
}

TensorView Transformer::Impl::view(const ArenaPlace& place) const {
  if (place.rows == 0) return {};
  return {base_address + place.offset,
          place.dtype,
          {place.rows, place.width},
          place.stride == place.width ? 0 : place.stride};
}

void Transformer::Impl::lay_out(const TokenBatch& host, bool with_gradient) {
  batch = {};
  batch.real_tokens = static_cast<std::int64_t>(host.ids.size());
  batch.tokens = padded_tokens(shape.device, batch.real_tokens);
  if (batch.tokens == 0 || batch.tokens > shape.most_tokens) {
    throw Error(ErrorCode::invalid_argument, "A batch of " + std::to_string(batch.real_tokens) +
                                                 " tokens does not fit the " +
                                                 std::to_string(options.max_tokens) + " planned");
  }
  shape.tokens = batch.tokens;
  shape.with_gradient = with_gradient;
  const ActivationPlaces places = place_activations(spec, shape);
  arena.rewind(0);
  base_address = arena.take({static_cast<std::int64_t>(places.bytes)}, DType::u8).as<char>();
  place_views(places);
  upload_batch(host, places);
  if (with_gradient && shape.draws) upload_draws(host, places);
}

void Transformer::Impl::upload_draws(const TokenBatch& host, const ActivationPlaces& places) {
  const auto tokens = static_cast<std::size_t>(batch.tokens);
  if (host.keys.size() != 2 * host.ids.size())
    throw Error(ErrorCode::invalid_argument,
                "A training batch with dropout or noise needs a key for each token");
  // Nothing is learnt from padding: any key does.
  std::vector<std::int32_t> keys = host.keys;
  keys.resize(2 * tokens, 0);
  batch.keys = view(places.keys).row_range(0, batch.tokens);
  backend.upload(batch.keys, keys.data());
  if (options.neftune == 0) return;
  std::vector<float> noise(tokens, 0.0f);
  for (std::size_t i = 0; i + 1 < host.cu_seqlens.size(); ++i) {
    const auto first = host.cu_seqlens[i], last = host.cu_seqlens[i + 1];
    const double size = static_cast<double>(options.neftune) /
                        std::sqrt(static_cast<double>(last - first) * static_cast<double>(spec.hidden_size));
    std::fill(noise.begin() + first, noise.begin() + last, static_cast<float>(size));
  }
  batch.noise = view(places.noise).reshaped({shape.most_tokens}).row_range(0, batch.tokens);
  backend.upload(batch.noise, noise.data());
}

void Transformer::Impl::upload_batch(const TokenBatch& host, const ActivationPlaces& places) {
  std::vector<std::int32_t> ids = host.ids, positions = host.positions, ends = host.cu_seqlens, labels,
                            targets;
  for (std::size_t t = 0; t < host.targets.size(); ++t) {
    if (host.targets[t] < 0) continue;
    labels.push_back(static_cast<std::int32_t>(t));
    targets.push_back(host.targets[t]);
  }
  std::int64_t longest = host.longest;
  // Padding is one more sequence that nothing is learnt from; more of none fill up their number.
  const std::int64_t padding = batch.tokens - batch.real_tokens;
  for (std::int64_t i = 0; i < padding; ++i) {
    ids.push_back(0);
    positions.push_back(static_cast<std::int32_t>(std::min(i, model.rope_cosine().rows() - 1)));
  }
  if (padding > 0) ends.push_back(static_cast<std::int32_t>(batch.tokens));
  longest = std::min(padded_count(shape.device, std::max(longest, padding)), batch.tokens);
  const auto sequences = padded_count(shape.device, static_cast<std::int64_t>(ends.size()) - 1);
  ends.resize(static_cast<std::size_t>(sequences) + 1, ends.back());
  const auto put = [&](const ArenaPlace& place, const std::vector<std::int32_t>& values) {
    const TensorView all = view(place);
    const TensorView some{all.data, DType::i32, {static_cast<std::int64_t>(values.size())}};
    if (!values.empty()) backend.upload(some, values.data());
    return some;
  };
  batch.label_count = static_cast<std::int64_t>(labels.size());
  batch.ids = put(places.ids, ids);
  batch.labels = put(places.labels, labels);
  batch.targets = put(places.targets, targets);
  batch.rows = {put(places.cu_seqlens, ends), put(places.positions, positions), sequences, longest};
}

void Transformer::Impl::place_views(const ActivationPlaces& places) {
  const auto column = [&](const ArenaPlace& place) {
    return place.rows == 0 ? TensorView{} : view(place).reshaped({place.rows});
  };
  const auto layer = [&](const LayerPlaces& p) {
    Activations act{view(p.q),
                    view(p.k),
                    view(p.v),
                    view(p.attention),
                    view(p.middle),
                    view(p.gate),
                    view(p.up),
                    view(p.attention_output),
                    view(p.mlp_output),
                    view(p.lse),
                    {},
                    {},
                    {}};
    for (std::size_t role = 0; role < norm_count; ++role) {
      act.mean[role] = column(p.mean[role]);
      act.rstd[role] = column(p.rstd[role]);
    }
    for (std::size_t which = 0; which < linear_count; ++which) act.xa[which] = view(p.xa[which]);
    return act;
  };
  inputs.clear();
  for (const ArenaPlace& place : places.inputs) inputs.push_back(view(place));
  norm = view(places.norm);
  inner = view(places.inner);
  dx = view(places.dx);
  head_rows = view(places.head_rows).row_range(0, batch.tokens);
  head_norm = view(places.head_norm);
  head_mean = column(places.head_mean);
  head_rstd = column(places.head_rstd);
  rotated_q = view(places.rotated_q);
  rotated_k = view(places.rotated_k);
  head_gradient = view(places.head_gradient);
  dnorm = view(places.dnorm);
  dinner = view(places.dinner);
  dattention = view(places.dattention);
  dq = view(places.dq);
  dk = view(places.dk);
  dv = view(places.dv);
  for (std::size_t which = 0; which < linear_count; ++which) products[which] = view(places.products[which]);
  dropped = view(places.dropped);
  rest = view(places.rest);
  ddropped = view(places.ddropped);
  kept.assign(places.kept.size(), {});
  down_xa.assign(places.down_xa.size(), {});
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (places.kept[i].q.rows > 0) kept[i] = layer(places.kept[i]);
    down_xa[i] = view(places.down_xa[i]);
  }
  if (places.scratch.q.rows > 0) scratch = layer(places.scratch);
}

std::uint64_t Transformer::Impl::key(Pass pass, std::int64_t layer, TensorView gradients) const {
  const auto u = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return repeat_key({static_cast<std::uint64_t>(pass), u(layer),
                     reinterpret_cast<std::uintptr_t>(base_address), u(batch.tokens), u(batch.rows.sequences),
                     u(batch.rows.longest), address_of(gradients),
                     adapter ? address_of(adapter->parameters()) : 0});
}

void Transformer::Impl::head(float grad_scale, bool with_gradient, TensorView sums) {
  const auto some = [&](TensorView rows) {
    return rows ? rows.row_range(0, batch.label_count) : TensorView{};
  };
  const TensorView rows = some(head_rows), normed = some(head_norm), mean = some(head_mean),
                   rstd = some(head_rstd);
  const TensorView gradient = with_gradient ? some(head_gradient) : TensorView{};
  backend.gather_rows(inputs.back(), batch.labels, rows);
  norm_forward(backend, spec, model.final_norm(), rows, normed, mean, rstd);
  backend.head_cross_entropy(normed, model.head(), batch.targets, grad_scale, sums, gradient,
                             static_cast<float>(spec.logit_soft_cap));
  if (!with_gradient) return;
  norm_backward(backend, spec, model.final_norm(), gradient, rows, mean, rstd, normed, Write::overwrite);
  backend.scatter_rows(normed, batch.labels, dx);
}

void Transformer::Impl::run(const TokenBatch& host, float grad_scale, TensorView gradients, TensorView sums,
                            const std::function<void()>& between) {
  const bool with_gradient = static_cast<bool>(gradients);
  if (with_gradient && !adapter)
    throw Error(ErrorCode::invalid_argument, "There is no adapter to take a gradient of");
  lay_out(host, with_gradient);
  forward(with_gradient, between);
  if (batch.label_count == 0) return;
  head(grad_scale, with_gradient, sums);
  if (with_gradient) backward(gradients, between);
}

Transformer::Transformer(BaseModel& model, const LoraAdapter* adapter, Options options)
    : impl_(std::make_unique<Impl>(model, adapter, std::move(options))) {}
Transformer::~Transformer() = default;

void Transformer::adapter_changed() {
  if (impl_->dora) impl_->dora->refresh();
}

void Transformer::evaluate(const TokenBatch& batch, TensorView sums, const std::function<void()>& between) {
  impl_->run(batch, 0, {}, sums, between);
}

void Transformer::forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients,
                                   TensorView sums, const std::function<void()>& between) {
  impl_->run(batch, grad_scale, gradients, sums, between);
}

BatchLoss Transformer::forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients) {
  Impl& impl = *impl_;
  impl.backend.fill_zero(impl.own_sums);
  impl.run(batch, grad_scale, gradients, impl.own_sums, {});
  double values[2] = {0, 0};
  impl.backend.download(values, impl.own_sums);
  return {values[0], static_cast<std::int64_t>(values[1]), impl.batch.label_count};
}

BatchLoss Transformer::evaluate(const TokenBatch& batch) {
  return forward_backward(batch, 0, {});
}

std::vector<float> Transformer::logits(const TokenBatch& batch) {
  Impl& impl = *impl_;
  impl.lay_out(batch, false);
  impl.forward(false, {});
  const std::int64_t tokens = impl.batch.real_tokens, vocabulary = impl.spec.vocab_size;
  Tensor statistics = impl.backend.allocate({2 * tokens}, DType::f32);
  Tensor result = impl.backend.allocate({tokens, vocabulary}, DType::f32);
  const TensorView normed = impl.head_norm.row_range(0, tokens), all = statistics;
  norm_forward(impl.backend, impl.spec, impl.model.final_norm(), impl.inputs.back().row_range(0, tokens),
               normed, all.row_range(0, tokens), all.row_range(tokens, tokens));
  impl.backend.head_logits(normed, impl.model.head(), result, static_cast<float>(impl.spec.logit_soft_cap));
  std::vector<float> host(static_cast<std::size_t>(tokens * vocabulary));
  impl.backend.download(host.data(), result);
  return host;
}

BaseModel& Transformer::model() const {
  return impl_->model;
}
std::size_t Transformer::arena_bytes() const {
  return impl_->arena.capacity_bytes();
}
std::size_t Transformer::arena_peak_bytes() const {
  return impl_->arena.peak_bytes();
}

}  // namespace lorikeet
