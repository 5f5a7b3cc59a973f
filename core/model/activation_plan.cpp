// SPDX-License-Identifier: Apache-2.0
#include "core/model/activation_plan.h"

#include "core/model/model_spec.h"

namespace lorikeet {
namespace {

/// Every tensor of the arena starts at a multiple of 64 bytes; this bounds what that adds to one layer's tensors.
constexpr std::uint64_t alignment_slack = 64 * 24;

struct Widths {
  std::uint64_t tokens, compute, hidden, query, key, inner, heads, ranks;
};

Widths widths(const ModelSpec& spec, const ActivationShape& shape) {
  const auto u = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  return {u(shape.tokens), u(shape.compute_bytes), u(spec.hidden_size), u(spec.heads * spec.head_dim),
          u(spec.kv_heads * spec.head_dim), u(spec.intermediate_size), u(spec.heads), u(shape.layer_ranks)};
}

}  // namespace

std::uint64_t kept_layer_bytes(const ModelSpec& spec, const ActivationShape& shape) {
  const Widths w = widths(spec, shape);
  const std::uint64_t computed = 2 * w.query + 2 * w.key + w.hidden + 2 * w.inner + w.ranks;
  const std::uint64_t statistics = 4 * (w.heads + 2);
  return w.tokens * (computed * w.compute + statistics) + alignment_slack;
}

std::uint64_t activation_bytes(const ModelSpec& spec, const ActivationShape& shape) {
  const Widths w = widths(spec, shape);
  const auto layers = static_cast<std::uint64_t>(spec.layers);
  const std::uint64_t inputs = (layers + 1) * (w.tokens * w.hidden * w.compute + 64);
  // One recomputed layer lives at a time in a slot of its own when any layer is not kept.
  const std::uint64_t slots = static_cast<std::uint64_t>(shape.kept_layers) + (shape.kept_layers < spec.layers ? 1 : 0);
  const std::uint64_t down = (layers - static_cast<std::uint64_t>(shape.kept_layers)) *
                             (w.tokens * static_cast<std::uint64_t>(shape.down_rank) * w.compute + 64);
  // Norm and SwiGLU outputs; gradients of one layer: residual and norm gradients, dq dk dv and d(attention), d(h).
  const std::uint64_t gradients = w.tokens * w.compute * (3 * w.hidden + 2 * w.query + 2 * w.key + 2 * w.inner);
  // Head: gathered label rows and their gradient; and ids, targets, positions, row lists.
  const std::uint64_t head = w.tokens * (3 * w.hidden * w.compute + 4 * 7) + 4096;
  return inputs + down + slots * kept_layer_bytes(spec, shape) + gradients + head + 2 * alignment_slack;
}

}  // namespace lorikeet
