// SPDX-License-Identifier: Apache-2.0
#include "core/infer/session.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/model/lora_adapter.h"
#include "core/model/transformer_impl.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t prefill_chunk = 256;  // tokens computed at once; also how often a stop is looked for

}  // namespace

struct Session::Impl {
  Impl(BaseModel& base, DType type, std::int64_t wanted_context, double rope_linear_factor);

  void compute(const TokenId* first, std::int64_t count);
  void layer(std::int64_t index, std::int64_t count);
  void linear(std::int64_t layer, std::size_t which, TensorView x, TensorView y, Write write);
  TensorView rows_of(const Tensor& tensor, std::int64_t count) const {
    return tensor.view().row_range(0, count);
  }

  BaseModel& model;
  Backend& backend;
  const ModelSpec& spec;
  DType type;
  std::int64_t context;
  AttentionShape attention_shape;

  std::vector<Tensor> k_cache, v_cache;                   ///< (context,kv) of each layer
  Tensor x, middle, norm, q, attention, gate, up, inner;  ///< (chunk, ...) work space
  Tensor rstd, positions, token_ids, last_norm, logits_device;
  struct Loaded {
    const LoraAdapter* adapter = nullptr;
    double strength = 1;
    Tensor xa;  ///< (chunk, largest rank)
  };
  std::vector<Loaded> adapters;
  std::vector<LoraTerm> terms;
  std::vector<TokenId> seen;
  std::vector<float> logits;
};

Session::Impl::Impl(BaseModel& base, DType compute_type, std::int64_t wanted_context,
                    double rope_linear_factor)
    : model(base), backend(base.backend()), spec(base.spec()), type(compute_type), context(wanted_context) {
  if (context < 1) throw Error(ErrorCode::invalid_argument, "The context must hold at least one token");
  model.prepare_positions(context, rope_linear_factor);
  attention_shape = {spec.heads, spec.kv_heads, spec.head_dim,
                     static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.head_dim))),
                     spec.sliding_window};
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  for (std::int64_t i = 0; i < spec.layers; ++i) {
    k_cache.push_back(backend.allocate({context, key}, type));
    v_cache.push_back(backend.allocate({context, key}, type));
  }
  const auto work = [&](std::int64_t width) { return backend.allocate({prefill_chunk, width}, type); };
  x = work(spec.hidden_size);
  middle = work(spec.hidden_size);
  norm = work(spec.hidden_size);
  q = work(query);
  attention = work(query);
  gate = work(spec.intermediate_size);
  up = work(spec.intermediate_size);
  inner = work(spec.intermediate_size);
  rstd = backend.allocate({prefill_chunk}, DType::f32);
  positions = backend.allocate({prefill_chunk}, DType::i32);
  token_ids = backend.allocate({prefill_chunk}, DType::i32);
  last_norm = backend.allocate({1, spec.hidden_size}, type);
  logits_device = backend.allocate({1, spec.vocab_size}, DType::f32);
  logits.resize(static_cast<std::size_t>(spec.vocab_size));
}

void Session::Impl::linear(std::int64_t layer, std::size_t which, TensorView in, TensorView out,
                           Write write) {
  terms.clear();
  for (const auto& loaded : adapters) {
    const LoraModule* module = loaded.adapter->find(layer, linear_names[which]);
    if (!module) continue;
    const TensorView xa{loaded.xa.view().data, type, {in.rows(), module->rank}};
    terms.push_back({module->a, module->b, static_cast<float>(module->scale * loaded.strength), xa});
  }
  backend.linear_forward(in, linear_weight(model.layers()[static_cast<std::size_t>(layer)], which), terms,
                         out, write);
}

void Session::Impl::layer(std::int64_t index, std::int64_t count) {
  const LayerWeights& weights = model.layers()[static_cast<std::size_t>(index)];
  const auto epsilon = static_cast<float>(spec.rms_epsilon);
  const auto position = static_cast<std::int64_t>(seen.size());
  const TensorView k_new = k_cache[static_cast<std::size_t>(index)].view().row_range(position, count);
  const TensorView v_new = v_cache[static_cast<std::size_t>(index)].view().row_range(position, count);
  const TensorView x_rows = rows_of(x, count), middle_rows = rows_of(middle, count),
                   norm_rows = rows_of(norm, count);
  const TensorView q_rows = rows_of(q, count), attention_rows = rows_of(attention, count);
  const TensorView gate_rows = rows_of(gate, count), up_rows = rows_of(up, count),
                   inner_rows = rows_of(inner, count);
  const TensorView rstd_rows = rows_of(rstd, count), position_rows = rows_of(positions, count);
  const auto rotate = [&](TensorView heads, std::int64_t number) {
    backend.rope(heads.reshaped({count, number, spec.head_dim}), position_rows, model.rope_cosine(),
                 model.rope_sine(), false);
  };
  backend.rms_norm_forward(x_rows, weights.input_norm, epsilon, norm_rows, rstd_rows);
  linear(index, q_proj, norm_rows, q_rows, Write::overwrite);
  linear(index, k_proj, norm_rows, k_new, Write::overwrite);
  linear(index, v_proj, norm_rows, v_new, Write::overwrite);
  rotate(q_rows, spec.heads);
  rotate(k_new, spec.kv_heads);
  backend.attention_cached(q_rows, k_cache[static_cast<std::size_t>(index)],
                           v_cache[static_cast<std::size_t>(index)], position_rows, position + count,
                           attention_shape, attention_rows);
  backend.copy(middle_rows, x_rows);
  linear(index, o_proj, attention_rows, middle_rows, Write::accumulate);
  backend.rms_norm_forward(middle_rows, weights.post_attention_norm, epsilon, norm_rows, rstd_rows);
  linear(index, gate_proj, norm_rows, gate_rows, Write::overwrite);
  linear(index, up_proj, norm_rows, up_rows, Write::overwrite);
  backend.glu_forward(gate_rows, up_rows, inner_rows);
  backend.copy(x_rows, middle_rows);
  linear(index, down_proj, inner_rows, x_rows, Write::accumulate);
}

void Session::Impl::compute(const TokenId* first, std::int64_t count) {
  std::array<std::int32_t, prefill_chunk> places;
  for (std::int64_t i = 0; i < count; ++i) {
    places[static_cast<std::size_t>(i)] =
        static_cast<std::int32_t>(seen.size()) + static_cast<std::int32_t>(i);
  }
  backend.upload(rows_of(positions, count), places.data());
  backend.upload(rows_of(token_ids, count), first);
  backend.embedding_forward(model.embedding(), rows_of(token_ids, count), rows_of(x, count));
  for (std::int64_t i = 0; i < spec.layers; ++i) layer(i, count);
  backend.rms_norm_forward(x.view().row_range(count - 1, 1), model.final_norm(),
                           static_cast<float>(spec.rms_epsilon), last_norm, rows_of(rstd, 1));
  seen.insert(seen.end(), first, first + count);
}

Session::Session(BaseModel& model, DType compute, std::int64_t context, double rope_linear_factor)
    : impl_(std::make_unique<Impl>(model, compute, context, rope_linear_factor)) {}
Session::~Session() = default;

void Session::set_adapters(std::vector<std::pair<const LoraAdapter*, double>> adapters) {
  Impl& s = *impl_;
  s.adapters.clear();
  s.seen.clear();
  for (const auto& [adapter, strength] : adapters) {
    if (strength == 0) continue;
    std::int64_t rank = 1;
    for (const auto& module : adapter->modules()) rank = std::max(rank, module.rank);
    s.adapters.push_back({adapter, strength, s.backend.allocate({prefill_chunk, rank}, s.type)});
  }
  s.terms.reserve(s.adapters.size());
}

const std::vector<float>& Session::prefill(const std::vector<TokenId>& ids, std::stop_token stop) {
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
    s.compute(ids.data() + s.seen.size(), std::min(left, prefill_chunk));
  }
  s.backend.head_logits(s.last_norm, s.model.head(), s.logits_device);
  s.backend.download(s.logits.data(), s.logits_device);
  return s.logits;
}

const std::vector<float>& Session::decode(TokenId id) {
  Impl& s = *impl_;
  if (static_cast<std::int64_t>(s.seen.size()) >= s.context) {
    throw Error(ErrorCode::invalid_argument,
                "The context of " + std::to_string(s.context) + " tokens is full");
  }
  s.compute(&id, 1);
  s.backend.head_logits(s.last_norm, s.model.head(), s.logits_device);
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
