// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "core/model/activation_plan.h"

namespace lorikeet {

/// Tokens of a prompt that a Session computes at once.
inline constexpr std::int64_t prefill_chunk = 256;

/// What decides how much memory a Session takes.
struct SessionShape {
  std::int64_t context = 0;
  DType compute = DType::f32;
  std::array<std::int64_t, linear_count> ranks{};  ///< of the adapter's branches, the largest of all layers
  DeviceLayout device;
  bool dora = false;  ///< the adapter has magnitudes: its gains are folded into a B of the session's own
};

/// Numbers that norms leave for each token of a chunk: rstd of the most pieces, and as many means
/// (LayerNorm).
std::int64_t statistics_of(const ModelSpec& spec);

/// Bytes of a Session at their peak, which is while an adapter is set: caches and work space. The tables of
/// positions are the model's.
std::uint64_t session_bytes(const ModelSpec& spec, const SessionShape& shape);

}  // namespace lorikeet
