// SPDX-License-Identifier: Apache-2.0
#include "core/model/activation_plan.h"

#include <algorithm>
#include <bit>

#include "core/model/model_spec.h"

namespace lorikeet {
namespace {

/// Hands out the arena from its start.
class Placer {
 public:
  Placer(const ModelSpec& spec, const ActivationShape& shape) : spec_(spec), shape_(shape) {}

  ActivationPlaces place();

 private:
  ArenaPlace take(std::int64_t rows, std::int64_t width, std::int64_t stride, DType dtype);
  ArenaPlace computed(std::int64_t width) { return take(shape_.tokens, width, width, shape_.compute); }
  /// With spare columns for branches of `ranks` in all.
  ArenaPlace tailed(std::int64_t width, std::int64_t ranks);
  /// One number for each normed piece of a row.
  ArenaPlace statistics(std::int64_t pieces) { return take(shape_.tokens * pieces, 1, 1, DType::f32); }
  ArenaPlace indices(std::int64_t count) { return take(count, 1, 1, DType::i32); }
  /// Places of some matrices with the same rows: columns of one, or one after the other.
  template <std::size_t n>
  void group(const std::array<std::int64_t, n>& widths, std::int64_t ranks,
             const std::array<ArenaPlace*, n>& out);
  std::int64_t ranks(std::initializer_list<Linear> which) const;
  void place_inputs(ActivationPlaces& places);
  void place_products(ActivationPlaces& places);
  LayerPlaces layer();

  const ModelSpec& spec_;
  const ActivationShape& shape_;
  ArenaPlace shared_middle_;
  std::uint64_t used_ = 0, peak_ = 0;
};

ArenaPlace Placer::take(std::int64_t rows, std::int64_t width, std::int64_t stride, DType dtype) {
  constexpr std::uint64_t alignment = 64;
  const ArenaPlace place{used_, rows, width, stride, dtype};
  const std::uint64_t bytes = static_cast<std::uint64_t>(rows * stride) * size_of(dtype);
  used_ += (bytes + alignment - 1) / alignment * alignment;
  peak_ = std::max(peak_, used_);
  return place;
}

ArenaPlace Placer::tailed(std::int64_t width, std::int64_t ranks) {
  const std::int64_t tail = shape_.device.tail_columns ? shape_.device.tail_columns(width, ranks) : 0;
  return take(shape_.tokens, width, width + tail, shape_.compute);
}

template <std::size_t n>
void Placer::group(const std::array<std::int64_t, n>& widths, std::int64_t ranks,
                   const std::array<ArenaPlace*, n>& out) {
  if (!shape_.device.fuses_parts) {
    for (std::size_t i = 0; i < n; ++i) *out[i] = computed(widths[i]);
    return;
  }
  std::int64_t total = 0;
  for (const std::int64_t width : widths) total += width;
  const ArenaPlace all = tailed(total, ranks);
  std::int64_t first = 0;
  for (std::size_t i = 0; i < n; ++i) {
    *out[i] = all.columns(first, widths[i]);
    first += widths[i];
  }
}

std::int64_t Placer::ranks(std::initializer_list<Linear> which) const {
  std::int64_t sum = 0;
  for (const Linear linear : which) sum += shape_.ranks[linear];
  return sum;
}

LayerPlaces Placer::layer() {
  const std::int64_t query = spec_.heads * spec_.head_dim, key = spec_.kv_heads * spec_.head_dim;
  const bool parallel = spec_.block == BlockKind::parallel, sandwich = spec_.block == BlockKind::sandwich;
  LayerPlaces p;
  group<3>({query, key, key}, 0, {&p.q, &p.k, &p.v});
  p.attention = tailed(query, ranks({o_proj}));
  // The backward of a parallel block does not look at it, so one serves all layers.
  p.middle = parallel ? shared_middle_ : computed(spec_.hidden_size);
  if (parallel && p.middle.rows == 0) p.middle = shared_middle_ = computed(spec_.hidden_size);
  if (sandwich) {
    p.attention_output = computed(spec_.hidden_size);
    p.mlp_output = computed(spec_.hidden_size);
  }
  // Their gradients take their places, and those have branches behind them.
  if (spec_.has_gate())
    group<2>({spec_.intermediate_size, spec_.intermediate_size}, ranks({gate_proj, up_proj}),
             {&p.gate, &p.up});
  else
    p.up = tailed(spec_.intermediate_size, ranks({up_proj}));
  p.lse = take(shape_.tokens, spec_.heads, spec_.heads, DType::f32);
  for (const NormModule& norm : norm_modules(spec_)) {
    const std::int64_t pieces = norm.role == q_norm ? spec_.heads : norm.role == k_norm ? spec_.kv_heads : 1;
    p.rstd[norm.role] = statistics(pieces);
    if (spec_.norm == NormKind::layer) p.mean[norm.role] = statistics(pieces);
  }
  const auto& r = shape_.ranks;
  group<3>({r[q_proj], r[k_proj], r[v_proj]}, 0, {&p.xa[q_proj], &p.xa[k_proj], &p.xa[v_proj]});
  p.xa[o_proj] = computed(r[o_proj]);
  group<2>({r[gate_proj], r[up_proj]}, 0, {&p.xa[gate_proj], &p.xa[up_proj]});
  p.xa[down_proj] = computed(r[down_proj]);
  return p;
}

void Placer::place_inputs(ActivationPlaces& places) {
  // Without a gradient nothing of a layer is read after it; offloaded inputs are written again for the
  // backward. Two matrices then serve in turns.
  std::array<ArenaPlace, 2> turns;
  const auto in_turns = [&](std::size_t i) {
    return !shape_.with_gradient || (shape_.offload && !shape_.keep[i]);
  };
  const auto layers = static_cast<std::size_t>(spec_.layers);
  for (std::size_t i = 0; i < layers; ++i) {
    if (!in_turns(i)) {
      places.inputs.push_back(computed(spec_.hidden_size));
      continue;
    }
    ArenaPlace& turn = turns[i % 2];
    if (turn.rows == 0) turn = computed(spec_.hidden_size);
    places.inputs.push_back(turn);
  }
  // The last output is gone once the head has its rows, which is before dx is first written.
  places.dx = tailed(spec_.hidden_size, std::max(ranks({o_proj}), ranks({down_proj})));
  places.inputs.push_back(places.dx);
}

/// One group at a time is at hand. Behind o_proj and down_proj their scaled output gradients take the
/// products' places, and those have branches behind them.
void Placer::place_products(ActivationPlaces& places) {
  const std::int64_t query = spec_.heads * spec_.head_dim, key = spec_.kv_heads * spec_.head_dim;
  auto& z = places.products;
  const std::uint64_t mark = used_;
  if (ranks({q_proj, k_proj, v_proj}) > 0)
    group<3>({query, key, key}, 0, {&z[q_proj], &z[k_proj], &z[v_proj]});
  for (const Linear one : {o_proj, down_proj}) {
    used_ = mark;
    if (ranks({one}) > 0) z[one] = tailed(spec_.hidden_size, ranks({one}));
  }
  used_ = mark;
  if (ranks({gate_proj, up_proj}) > 0)
    group<2>({spec_.intermediate_size, spec_.intermediate_size}, 0, {&z[gate_proj], &z[up_proj]});
}

ActivationPlaces Placer::place() {
  const std::int64_t query = spec_.heads * spec_.head_dim, key = spec_.kv_heads * spec_.head_dim;
  const std::int64_t hidden = spec_.hidden_size, inner = spec_.intermediate_size;
  ActivationPlaces p;
  p.ids = indices(shape_.most_tokens);
  p.positions = indices(shape_.most_tokens);
  p.labels = indices(shape_.most_tokens);
  p.targets = indices(shape_.most_tokens);
  p.cu_seqlens = indices(padded_count(shape_.device, shape_.most_tokens) + 1);
  if (shape_.draws) {
    p.keys = take(shape_.most_tokens, 2, 2, DType::i32);
    p.noise = take(shape_.most_tokens, 1, 1, DType::f32);
  }
  place_inputs(p);
  const std::int64_t attention_ranks = ranks({q_proj, k_proj, v_proj}),
                     mlp_ranks = ranks({gate_proj, up_proj});
  p.norm = tailed(hidden, std::max(attention_ranks, mlp_ranks));
  p.inner = tailed(inner, ranks({down_proj}));
  if (spec_.qk_norm) {
    p.rotated_q = computed(query);
    p.rotated_k = computed(key);
  }
  // The head is done before the gradients of the first layer are made.
  const std::uint64_t mark = used_;
  p.head_rows = computed(hidden);
  p.head_norm = computed(hidden);
  p.head_rstd = statistics(1);
  if (spec_.norm == NormKind::layer) p.head_mean = statistics(1);
  p.kept.resize(shape_.keep.size());
  p.down_xa.resize(shape_.keep.size());
  if (shape_.with_gradient) {
    p.head_gradient = computed(hidden);
    used_ = mark;
    // In a sandwich it also holds gradients behind the norms of o_proj's and down_proj's outputs.
    p.dnorm = spec_.block == BlockKind::sandwich
                  ? tailed(hidden, std::max(ranks({o_proj}), ranks({down_proj})))
                  : computed(hidden);
    p.dinner = computed(inner);
    p.dattention = computed(query);
    group<3>({query, key, key}, attention_ranks, {&p.dq, &p.dk, &p.dv});
    if (shape_.dora && shape_.drops) {
      const std::int64_t widest = std::max({hidden, query, inner});
      for (ArenaPlace* place : {&p.dropped, &p.rest, &p.ddropped}) *place = computed(widest);
    }
    if (shape_.dora) place_products(p);
    used_ = peak_;
    for (std::size_t i = 0; i < shape_.keep.size(); ++i) {
      if (shape_.keep[i])
        p.kept[i] = layer();
      else if (shape_.ranks[down_proj] > 0)
        p.down_xa[i] = computed(shape_.ranks[down_proj]);
    }
  }
  const bool all_kept = std::find(shape_.keep.begin(), shape_.keep.end(), false) == shape_.keep.end();
  if (!shape_.with_gradient || !all_kept) p.scratch = layer();
  p.bytes = peak_;
  return p;
}

}  // namespace

ArenaPlace ArenaPlace::columns(std::int64_t first, std::int64_t count) const {
  return {offset + static_cast<std::uint64_t>(first) * size_of(dtype), rows, count, stride, dtype};
}

ActivationPlaces place_activations(const ModelSpec& spec, const ActivationShape& shape) {
  return Placer(spec, shape).place();
}

std::uint64_t activation_bytes(const ModelSpec& spec, const ActivationShape& shape) {
  return place_activations(spec, shape).bytes;
}

std::int64_t padded_tokens(const DeviceLayout& device, std::int64_t tokens) {
  return (tokens + device.token_multiple - 1) / device.token_multiple * device.token_multiple;
}

std::int64_t padded_count(const DeviceLayout& device, std::int64_t count) {
  if (device.token_multiple == 1) return count;
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(count)));
}

}  // namespace lorikeet
