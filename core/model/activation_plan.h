// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lorikeet {

struct ModelSpec;

/// What decides the size of a Transformer's activation arena.
struct ActivationShape {
  std::int64_t tokens = 0;          ///< T of the largest micro-batch
  std::int64_t compute_bytes = 4;   ///< 2 for bf16 and f16
  std::int64_t layer_ranks = 0;     ///< sum of the ranks of one layer's adapted modules
  std::int64_t down_rank = 0;       ///< largest rank on down_proj: its X A^T is kept even where the rest is recomputed
  std::int64_t kept_layers = 0;     ///< layers whose activations stay until the backward; the others are recomputed
};

/// Bytes of the arena: the residual stream of every layer, the kept activations, one live layer and the gradients of
/// one. The Transformer sizes its arena with it and the plan shows it, so they cannot differ.
std::uint64_t activation_bytes(const ModelSpec& spec, const ActivationShape& shape);

/// Bytes kept for one layer beside its input: q, k, v, attention output, residual after attention, gate, up,
/// softmax and norm statistics, and X A^T of its adapters.
std::uint64_t kept_layer_bytes(const ModelSpec& spec, const ActivationShape& shape);

}  // namespace lorikeet
