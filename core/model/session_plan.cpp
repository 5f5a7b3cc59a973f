// SPDX-License-Identifier: Apache-2.0
#include "core/model/session_plan.h"

#include <algorithm>

#include "core/model/model_spec.h"

namespace lorikeet {

namespace {

/// B and one factor for each row of every adapted layer, twice while an adapter is set again, and norms and
/// gains while they are made (DoraMix).
std::uint64_t folded_bytes(const ModelSpec& spec, const SessionShape& shape) {
  std::int64_t numbers = 0;
  for (const LinearModule& module : linear_modules(spec)) {
    for (const LinearRows& rows : module.rows) {
      const std::int64_t rank = shape.ranks[rows.role];
      if (rank > 0) numbers += rows.count * (2 * (rank + 1) + 2);
    }
  }
  return 4 * static_cast<std::uint64_t>(numbers * spec.layers);
}

}  // namespace

std::int64_t statistics_of(const ModelSpec& spec) {
  return (spec.qk_norm ? spec.heads : 1) * 2;
}

std::uint64_t session_bytes(const ModelSpec& spec, const SessionShape& shape) {
  const std::int64_t query = spec.heads * spec.head_dim, key = spec.kv_heads * spec.head_dim;
  const std::int64_t hidden = spec.hidden_size, inner = spec.intermediate_size;
  const auto& r = shape.ranks;
  const auto tail = [&](std::int64_t width, std::int64_t ranks) {
    return shape.device.tail_columns ? shape.device.tail_columns(width, ranks) : 0;
  };
  const std::int64_t cache = 2 * spec.layers * shape.context * key;
  const std::int64_t rows =
      2 * hidden + query + 2 * key + (spec.has_gate() ? 2 : 1) * inner;  // residuals, q k v, gate and up
  const std::int64_t inputs = hidden + query + inner;                    // of linear layers
  const std::int64_t tails =
      std::max(tail(hidden, r[q_proj] + r[k_proj] + r[v_proj]), tail(hidden, r[gate_proj] + r[up_proj])) +
      tail(query, r[o_proj]) + tail(inner, r[down_proj]);
  const bool adapted = std::any_of(r.begin(), r.end(), [](std::int64_t rank) { return rank > 0; });
  // An adapter's own are made beside those they replace.
  const std::int64_t beside = adapted ? inputs + tails + 3 * *std::max_element(r.begin(), r.end()) : 0;
  const std::int64_t typed = cache + prefill_chunk * (rows + inputs + beside) + hidden;
  const std::int64_t words = prefill_chunk * statistics_of(spec) + 2 * prefill_chunk +
                             (spec.embedding_scale == 1 ? 0 : hidden) + spec.vocab_size + shape.context + 1;
  return static_cast<std::uint64_t>(typed) * size_of(shape.compute) + 4 * static_cast<std::uint64_t>(words) +
         (shape.dora ? folded_bytes(spec, shape) : 0);
}

}  // namespace lorikeet
