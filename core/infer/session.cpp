// SPDX-License-Identifier: Apache-2.0
// A prompt is computed in chunks, an answer token by token. Positions and ids lie in device memory, so all
// tokens of an answer are the same work, but for what the host knows of the context: that goes up in powers
// of two.
#include "core/infer/session.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

#include "core/infer/dora_mix.h"
#include "core/infer/sampler.h"
#include "core/model/block.h"
#include "core/model/lora_adapter.h"
#include "core/model/repeat_key.h"
#include "core/model/session_plan.h"
#include "core/model/transformer_impl.h"
#include "kernels/base/error.h"

namespace lorikeet {
struct Session::Impl {
  Impl(BaseModel& base, DType type, std::int64_t wanted_context, double rope_linear_factor);
  ~Impl() { backend.forget_repeats(); }

  /// An adapter with its room for X A^T of the linear layers that read the same input.
  struct Loaded {
    const LoraAdapter* adapter = nullptr;
    double strength = 1;
    TensorView parameters;  ///< its, when it was set
    Tensor xa;              ///< (parts, chunk, largest rank)
    std::int64_t largest_rank = 1;
  };
  /// One linear layer of a group that reads the same input, and its output.
  struct Part {
    Linear which;
    TensorView y;
  };
  /// A matrix of work space for a chunk; some have spare columns (Backend::tail_columns).
  struct Work {
    Tensor storage;
    std::int64_t width = 0;
    TensorView rows(std::int64_t count) const;
    TensorView columns(std::int64_t count, std::int64_t first, std::int64_t width) const;
  };

  void compute(const TokenId* first, std::int64_t count, bool with_head);
  void all_layers(std::int64_t count, std::int64_t limit, bool with_head);
  void layer(std::int64_t index, std::int64_t count, std::int64_t limit);
  void attend(std::int64_t index, std::int64_t count, std::int64_t limit);
  /// to = residual + (the norm of) the linear layer of `in`.
  void join(std::int64_t index, Linear which, TensorView in, TensorView residual, TensorView to);
  void normalise(const NormWeights& weights, TensorView from, TensorView to);
  void linear(std::int64_t layer, std::span<const Part> parts, TensorView x, TensorView residual);
  /// Work space that linear layers read; its spare columns depend on the adapters.
  struct Inputs {
    Work norm, attention, inner;
  };
  Inputs make_inputs(const std::vector<Loaded>& loaded) const;
  std::int64_t tail(const std::vector<Loaded>& loaded, std::int64_t width,
                    std::initializer_list<Linear> readers) const;
  Work work(std::int64_t width, std::int64_t spare = 0) const;

  BaseModel& model;
  Backend& backend;
  const ModelSpec& spec;
  DType type;
  std::int64_t context;

  double rope_linear_factor;

  std::vector<Tensor> k_cache, v_cache;  ///< (context,kv) of each layer
  Work x, middle;                        ///< (chunk, ...)
  Work q, k, v, gate, up;                ///< where parts are fused: q holds k and v too, gate holds up
  Inputs inputs;
  Tensor statistics, embedding_factor, indices, last_norm, logits_device, recent, drawn;
  std::vector<Loaded> adapters;
  std::optional<DoraMix> dora;  ///< with DoRA adapters
  std::vector<TokenId> seen;
  std::vector<float> logits;
};

TensorView Session::Impl::Work::rows(std::int64_t count) const {
  return columns(count, 0, width);
}

TensorView Session::Impl::Work::columns(std::int64_t count, std::int64_t first, std::int64_t columns) const {
  const TensorView some = storage.view().row_range(0, count);
  return columns == some.columns() ? some : some.column_range(first, columns);
}

Session::Impl::Impl(BaseModel& base, DType compute_type, std::int64_t wanted_context, double factor)
    : model(base),
      backend(base.backend()),
      spec(base.spec()),
      type(compute_type),
      context(wanted_context),
      rope_linear_factor(factor) {
  if (context < 1) throw Error(ErrorCode::invalid_argument, "The context must hold at least one token");
  model.prepare_positions(context, rope_linear_factor);
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    k_cache.push_back(backend.allocate({context, key}, type));
    v_cache.push_back(backend.allocate({context, key}, type));
  }
  statistics = backend.allocate({prefill_chunk * statistics_of(spec)}, DType::f32);
  embedding_factor = embedding_scale(backend, spec, type);
  indices = backend.allocate({2 * prefill_chunk}, DType::i32);
  last_norm = backend.allocate({1, spec.hidden_size}, type);
  logits_device = backend.allocate({1, spec.vocab_size}, DType::f32);
  recent = backend.allocate({context}, DType::i32);
  drawn = backend.allocate({1}, DType::i32);
  logits.resize(static_cast<std::size_t>(spec.vocab_size));
  x = work(spec.hidden_size);
  middle = work(spec.hidden_size);
  const bool fused = backend.fuses_parts();
  q = work(fused ? query + 2 * key : query);
  gate = work(fused && spec.has_gate() ? 2 * spec.intermediate_size : spec.intermediate_size);
  if (!fused) {
    k = work(key);
    v = work(key);
    if (spec.has_gate()) up = work(spec.intermediate_size);
  }
  inputs = make_inputs({});
}

Session::Impl::Work Session::Impl::work(std::int64_t width, std::int64_t spare) const {
  return {backend.allocate({prefill_chunk, width + spare}, type), width};
}

std::int64_t Session::Impl::tail(const std::vector<Loaded>& loaded, std::int64_t width,
                                 std::initializer_list<Linear> readers) const {
  std::int64_t ranks = 0;
  for (const Loaded& one : loaded) {
    for (const Linear which : readers) {
      ranks += one.adapter->largest_rank(which);
    }
  }
  return backend.tail_columns(width, ranks);
}

Session::Impl::Inputs Session::Impl::make_inputs(const std::vector<Loaded>& loaded) const {
  const std::int64_t query = spec.heads * spec.head_dim, hidden = spec.hidden_size;
  const std::int64_t intermediate = spec.intermediate_size;
  Inputs made;
  made.norm = work(hidden, std::max(tail(loaded, hidden, {q_proj, k_proj, v_proj}),
                                    tail(loaded, hidden, {gate_proj, up_proj})));
  made.attention = work(query, tail(loaded, query, {o_proj}));
  made.inner = work(intermediate, tail(loaded, intermediate, {down_proj}));
  return made;
}

void Session::Impl::linear(std::int64_t layer, std::span<const Part> parts, TensorView in,
                           TensorView residual) {
  std::array<std::vector<LoraTerm>, 3> terms;
  std::array<LinearPart, 3> group;
  std::size_t count = 0;
  bool scaled = false;
  for (const Part& part : parts) {
    const DoraMix::Layer* mix = dora ? dora->find(layer, part.which) : nullptr;
    scaled = scaled || mix;
    for (std::size_t i = 0; i < adapters.size(); ++i) {
      const Loaded& loaded = adapters[i];
      const LoraBranch branch = loaded.adapter->branch(layer, part.which);
      if (!branch) continue;
      const auto room = static_cast<std::int64_t>(count) * prefill_chunk * loaded.largest_rank;
      const TensorView xa{loaded.xa.view().row_range(room, 1).data, type, {in.rows(), branch.module->rank}};
      const double scale = mix ? branch.module->scale : branch.module->scale * loaded.strength;
      terms[count].push_back({branch.a, mix ? mix->b[i].view() : branch.b, static_cast<float>(scale), xa});
    }
    const LayerWeights& weights = model.layers()[static_cast<std::size_t>(layer)];
    group[count] = {mix ? &mix->bare : &linear_weight(weights, part.which), terms[count], part.y};
    ++count;
  }
  backend.linear_group_forward(in, {group.data(), count}, scaled ? TensorView{} : residual);
  for (const Part& part : parts) {
    if (const DoraMix::Layer* mix = scaled ? dora->find(layer, part.which) : nullptr)
      backend.scale_columns(part.y, mix->factor, mix->bias, residual, part.y);
  }
}

void Session::Impl::normalise(const NormWeights& weights, TensorView from, TensorView to) {
  const TensorView all = statistics;
  const std::int64_t pieces = from.elements() / weights.weight.view().elements();
  norm_forward(backend, spec, weights, from, to, all.row_range(0, pieces), all.row_range(pieces, pieces));
}

void Session::Impl::join(std::int64_t index, Linear which, TensorView in, TensorView residual,
                         TensorView to) {
  if (spec.block != BlockKind::sandwich) return linear(index, std::array{Part{which, to}}, in, residual);
  const NormRole role = which == down_proj ? mlp_output_norm : attention_output_norm;
  const TensorView output = inputs.norm.rows(in.rows());
  linear(index, std::array{Part{which, output}}, in, {});
  normalise(model.layers()[static_cast<std::size_t>(index)].norms[role], output, output);
  backend.copy(to, residual);
  backend.add(to, output);
}

void Session::Impl::attend(std::int64_t index, std::int64_t count, std::int64_t limit) {
  const auto i = static_cast<std::size_t>(index);
  const LayerWeights& weights = model.layers()[i];
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  const bool fused = backend.fuses_parts();
  const TensorView q_rows = q.columns(count, 0, query);
  const TensorView k_rows = fused ? q.columns(count, query, key) : k.rows(count);
  const TensorView v_rows = fused ? q.columns(count, query + key, key) : v.rows(count);
  const TensorView positions = indices.view().row_range(count, count);
  linear(index, std::array{Part{q_proj, q_rows}, Part{k_proj, k_rows}, Part{v_proj, v_rows}},
         inputs.norm.rows(count), {});
  if (spec.qk_norm) {
    normalise(weights.norms[q_norm], q_rows, q_rows);
    normalise(weights.norms[k_norm], k_rows, k_rows);
  }
  backend.rope_append(q_rows.reshaped({count, spec.heads, spec.head_dim}),
                      k_rows.reshaped({count, spec.kv_heads, spec.head_dim}), v_rows, positions,
                      model.rope_cosine(), model.rope_sine(), k_cache[i], v_cache[i]);
  backend.attention_cached(q_rows, k_cache[i], v_cache[i], positions, limit, attention_shape_of(spec, index),
                           inputs.attention.rows(count));
}

void Session::Impl::layer(std::int64_t index, std::int64_t count, std::int64_t limit) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(index)];
  const bool fused = backend.fuses_parts(), parallel = spec.block == BlockKind::parallel;
  const TensorView x_rows = x.rows(count), middle_rows = middle.rows(count);
  const TensorView norm_rows = inputs.norm.rows(count), inner_rows = inputs.inner.rows(count);
  const std::int64_t inner = spec.intermediate_size;
  const TensorView gate_rows = spec.has_gate() ? gate.columns(count, 0, inner) : TensorView{};
  const TensorView up_rows = !spec.has_gate() ? gate.columns(count, 0, inner)
                             : fused          ? gate.columns(count, inner, inner)
                                              : up.rows(count);
  const std::array parts{Part{gate_proj, gate_rows}, Part{up_proj, up_rows}};
  const auto mlp_parts = std::span(parts).subspan(spec.has_gate() ? 0 : 1);
  normalise(weights.norms[attention_norm], x_rows, norm_rows);
  attend(index, count, limit);
  if (parallel) linear(index, mlp_parts, norm_rows, {});
  join(index, o_proj, inputs.attention.rows(count), x_rows, middle_rows);
  if (!parallel) {
    normalise(weights.norms[mlp_norm], middle_rows, norm_rows);
    linear(index, mlp_parts, norm_rows, {});
  }
  activate(backend, spec, gate_rows, up_rows, inner_rows);
  join(index, down_proj, inner_rows, middle_rows, x_rows);
}

void Session::Impl::all_layers(std::int64_t count, std::int64_t limit, bool with_head) {
  backend.embedding_forward(model.embedding(), indices.view().row_range(0, count), x.rows(count));
  if (embedding_factor) backend.scale_columns(x.rows(count), embedding_factor, {}, {}, x.rows(count));
  for (std::int64_t i = 0; i < spec.layers; ++i) layer(i, count, limit);
  if (!with_head) return;
  normalise(model.final_norm(), x.rows(count).row_range(count - 1, 1), last_norm);
  backend.head_logits(last_norm, model.head(), logits_device, static_cast<float>(spec.logit_soft_cap));
}

void Session::Impl::compute(const TokenId* first, std::int64_t count, bool with_head) {
  std::array<std::int32_t, 2 * prefill_chunk> host;  // ids, then their positions
  std::copy_n(first, count, host.begin());
  for (std::int64_t i = 0; i < count; ++i) {
    host[static_cast<std::size_t>(count + i)] =
        static_cast<std::int32_t>(seen.size()) + static_cast<std::int32_t>(i);
  }
  backend.upload(indices.view().row_range(0, 2 * count), host.data());
  const std::uint64_t used = seen.size() + static_cast<std::uint64_t>(count);
  const std::int64_t limit = std::min(context, static_cast<std::int64_t>(std::bit_ceil(used)));
  if (count == 1 && with_head) {
    const std::uint64_t key =
        repeat_key({address_of(x.storage), address_of(k_cache.front()), static_cast<std::uint64_t>(limit)});
    backend.repeat(key, [&] { all_layers(count, limit, with_head); });
  } else {
    all_layers(count, limit, with_head);
  }
  seen.insert(seen.end(), first, first + count);
}

Session::Session(BaseModel& model, DType compute, std::int64_t context, double rope_linear_factor)
    : impl_(std::make_unique<Impl>(model, compute, context, rope_linear_factor)) {}
Session::~Session() = default;

void Session::set_adapters(std::vector<std::pair<const LoraAdapter*, double>> adapters,
                           std::optional<double> rope_linear_factor) {
  Impl& s = *impl_;
  s.seen.clear();
  std::erase_if(adapters, [](const auto& one) { return one.second == 0; });
  const double factor = rope_linear_factor.value_or(s.rope_linear_factor);
  const auto is_set = [](const Impl::Loaded& loaded, const auto& wanted) {
    const TensorView parameters = wanted.first->parameters();
    return loaded.adapter == wanted.first && loaded.strength == wanted.second &&
           loaded.parameters.data == parameters.data && loaded.parameters.shape == parameters.shape;
  };
  std::vector<StrongAdapter> strong;
  bool any_dora = false;
  for (const auto& [adapter, strength] : adapters) {
    strong.push_back({adapter, strength});
    any_dora = any_dora || adapter->config().dora;
  }
  // A DoRA adapter's numbers may have changed since they were folded.
  if (!any_dora && factor == s.rope_linear_factor &&
      std::equal(s.adapters.begin(), s.adapters.end(), adapters.begin(), adapters.end(), is_set))
    return;
  // All that can fail comes first: what is set stays as it is then, and so do the adapters it points to.
  std::vector<Impl::Loaded> next;
  for (const auto& [adapter, strength] : adapters) {
    Impl::Loaded loaded{adapter, strength, adapter->parameters(), {}, 1};
    for (const auto& module : adapter->modules())
      loaded.largest_rank = std::max(loaded.largest_rank, module.rank);
    loaded.xa = s.backend.allocate({3 * prefill_chunk * loaded.largest_rank}, s.type);
    next.push_back(std::move(loaded));
  }
  Impl::Inputs inputs = s.make_inputs(next);
  std::optional<DoraMix> mix;
  if (any_dora) mix.emplace(s.model, strong);
  s.model.prepare_positions(s.context, factor);
  s.backend.forget_repeats();  // they name what goes now
  s.adapters = std::move(next);
  s.dora = std::move(mix);
  s.inputs = std::move(inputs);
  s.rope_linear_factor = factor;
}

void Session::prefill(const std::vector<TokenId>& ids, std::stop_token stop) {
  Impl& s = *impl_;
  if (ids.empty()) throw Error(ErrorCode::invalid_argument, "There is nothing to answer to");
  if (static_cast<std::int64_t>(ids.size()) > s.context) {
    throw Error(ErrorCode::invalid_argument,
                "The conversation has " + std::to_string(ids.size()) + " tokens, more than the context of " +
                    std::to_string(s.context),
                {}, "Start a new chat or shorten the text");
  }
  for (const TokenId id : ids) {
    if (id < 0 || id >= s.spec.vocab_size) {
      throw Error(ErrorCode::bad_format,
                  "Token " + std::to_string(id) + " is outside the model's vocabulary of " +
                      std::to_string(s.spec.vocab_size),
                  {}, "Check that tokenizer and model belong together");
    }
  }
  const auto same = static_cast<std::size_t>(
      std::mismatch(ids.begin(), ids.end(), s.seen.begin(), s.seen.end()).first - ids.begin());
  s.seen.resize(std::min(same, ids.size() - 1));  // the last token is always computed: its logits are wanted
  while (s.seen.size() < ids.size()) {
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "The answer was stopped");
    const auto left = static_cast<std::int64_t>(ids.size() - s.seen.size());
    s.compute(ids.data() + s.seen.size(), std::min(left, prefill_chunk), left <= prefill_chunk);
  }
}

void Session::decode(TokenId id) {
  Impl& s = *impl_;
  if (static_cast<std::int64_t>(s.seen.size()) >= s.context) {
    throw Error(ErrorCode::invalid_argument,
                "The context of " + std::to_string(s.context) + " tokens is full");
  }
  s.compute(&id, 1, true);
}

TokenId Session::sample(const Sampling& sampling, std::uint64_t draw) {
  Impl& s = *impl_;
  const std::int64_t window = penalised_tokens(sampling, s.seen.size());
  const TensorView recent{s.recent.view().data, DType::i32, {window}};
  if (window > 0)
    s.backend.upload(recent, s.seen.data() + (s.seen.size() - static_cast<std::size_t>(window)));
  s.backend.sample(s.logits_device.view().reshaped({s.spec.vocab_size}), recent, rule_of(sampling),
                   uniform_of(sampling, draw), s.drawn);
  std::int32_t id = -1;
  s.backend.download(&id, s.drawn);
  return checked_token(id);
}

const std::vector<float>& Session::logits() {
  Impl& s = *impl_;
  s.backend.download(s.logits.data(), s.logits_device);
  return s.logits;
}

std::int64_t Session::context() const {
  return impl_->context;
}
const std::vector<TokenId>& Session::ids() const {
  return impl_->seen;
}

}  // namespace lorikeet
