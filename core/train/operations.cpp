// SPDX-License-Identifier: Apache-2.0
#include "core/train/operations.h"

#include <algorithm>

#include "core/train/plan.h"

namespace lorikeet {
namespace {

/// A weight is expanded to 16 bits in about the time of ten operations (measured on AVX-512; on GPUs, which
/// have more operations for a byte, estimated_seconds counts bytes).
constexpr double expansion = 10;

struct Parts {
  double linear = 0, adapter = 0, down = 0;  ///< parameters
  double attention = 0;                      ///< forward, for each pair
  double head = 0;
};

Parts parts_of(const ModelSpec& spec, const Settings& settings) {
  const auto layers = static_cast<double>(spec.layers);
  return {static_cast<double>(spec.linear_parameters()),
          static_cast<double>(adapter_parameters(spec, settings)),
          layers * static_cast<double>(spec.hidden_size * spec.intermediate_size),
          layers * 2.0 * static_cast<double>(spec.heads * spec.head_dim),
          static_cast<double>(spec.vocab_size * spec.hidden_size)};
}

}  // namespace

Operations training_operations(const ModelSpec& spec, const Settings& settings,
                               std::int64_t recomputed_layers) {
  const Parts p = parts_of(spec, settings);
  const double again =
      static_cast<double>(recomputed_layers) / static_cast<double>(std::max<std::int64_t>(1, spec.layers));
  const double magnitudes =
      settings.dora ? 2 * p.linear + 2 * p.adapter : 0;  // products again for their gradient
  const double forward = 2 * p.linear + 2 * p.adapter;
  const double backward = 2 * p.linear + 4 * p.adapter + magnitudes;
  return {forward + backward + again * (forward - 2 * p.down), p.attention * (1 + again + 2.5), 4 * p.head,
          expansion * p.linear * (2 + again)};
}

Operations evaluation_operations(const ModelSpec& spec, const Settings& settings) {
  const Parts p = parts_of(spec, settings);
  return {2 * p.linear + 2 * p.adapter, p.attention, 2 * p.head, expansion * p.linear};
}

}  // namespace lorikeet
