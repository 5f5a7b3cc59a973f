// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/model/model_spec.h"
#include "kernels/base/device_layout.h"
#include "kernels/base/dtype.h"

namespace lorikeet {

/// What decides where a Transformer's activations lie.
struct ActivationShape {
  std::int64_t tokens = 0;       ///< T of the micro-batch, padding included
  std::int64_t most_tokens = 0;  ///< T of the largest one: room for indices
  DType compute = DType::f32;
  std::array<std::int64_t, linear_count> ranks{};  ///< of each linear's branch, the largest of all layers
  std::vector<bool> keep;                          ///< of each layer: its activations stay until the backward
  bool with_gradient = true;
  bool offload = false;  ///< inputs of layers that are not kept go to the host
  bool draws = false;    ///< tokens have keys, since the training has dropout or noise
  bool drops = false;    ///< by dropout
  bool dora = false;     ///< the branches' layers have magnitudes: their products are made again in the backward
  DeviceLayout device;
};

/// A matrix in the arena, or some columns of one.
struct ArenaPlace {
  std::uint64_t offset = 0;                      ///< bytes from the start of the arena
  std::int64_t rows = 0, width = 0, stride = 0;  ///< elements; stride from row to row
  DType dtype = DType::f32;

  ArenaPlace columns(std::int64_t first, std::int64_t count) const;
};

/// What the forward of one layer leaves for its backward. Where the device fuses parts, q|k|v and gate|up and
/// their X A^T are columns of one matrix each. rows = 0 where the family has no such thing.
struct LayerPlaces {
  ArenaPlace q, k, v, attention, middle, gate, up, lse;
  ArenaPlace attention_output, mlp_output;       ///< before their norms (BlockKind::sandwich)
  std::array<ArenaPlace, norm_count> mean, rstd;  ///< of each norm
  std::array<ArenaPlace, linear_count> xa;  ///< rows = 0 where there is no branch
};

/// The whole arena. The indices come first and do not move; all else depends on T alone.
struct ActivationPlaces {
  ArenaPlace ids, positions, labels, targets, cu_seqlens;  ///< i32, as many as the largest micro-batch needs
  ArenaPlace keys, noise;                                  ///< i32 (T,2) and f32 [T], where tokens have keys
  std::vector<ArenaPlace> inputs;  ///< of each layer, and the last output (which is dx's place)
  ArenaPlace norm, inner, dx, dnorm, dinner, dattention, dq, dk, dv;
  ArenaPlace rotated_q, rotated_k;  ///< with norms of q and k, which need what was before them
  ArenaPlace dropped, rest, ddropped;  ///< with DoRA and dropout: of one adapted layer's input, and its gradient
  std::array<ArenaPlace, linear_count> products;  ///< with DoRA: of the linear layers of one group at a time
  ArenaPlace head_rows, head_norm, head_gradient, head_mean, head_rstd;  ///< where the gradients of one layer will lie
  std::vector<LayerPlaces> kept;    ///< of each layer; empty places where it is not kept
  std::vector<ArenaPlace> down_xa;  ///< of layers that are not kept
  LayerPlaces scratch;              ///< of the layer at hand when it is not kept
  std::uint64_t bytes = 0;
};

/// Where everything lies. The Transformer takes its views and the size of its arena from here, and the plan
/// its bytes, so they cannot differ.
ActivationPlaces place_activations(const ModelSpec& spec, const ActivationShape& shape);

/// Bytes of the arena.
std::uint64_t activation_bytes(const ModelSpec& spec, const ActivationShape& shape);

/// Tokens a micro-batch of `tokens` takes: padded to the device's multiple.
std::int64_t padded_tokens(const DeviceLayout& device, std::int64_t tokens);
/// Numbers that shapes of recorded work may have where batches are padded: the next power of two.
std::int64_t padded_count(const DeviceLayout& device, std::int64_t count);

}  // namespace lorikeet
