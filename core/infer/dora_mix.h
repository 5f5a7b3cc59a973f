// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/model/dora.h"

namespace lorikeet {

/// An adapter of a chat and how strongly it acts.
struct StrongAdapter {
  const LoraAdapter* adapter = nullptr;
  double strength = 1;
};

/// Several adapters of which some are DoRA, folded for one linear product and one scaling of its columns.
///
/// A strength t moves the layer on the straight line from the base to the adapter: W + t (W' - W), for LoRA W
/// + t s B A, for DoRA with W' = g o (W + s B A). Adapters add up: c o W + sum of t g o s B A (g = 1 for
/// LoRA) with c = 1 + sum of t (g - 1) over the DoRA adapters. What is computed is y = c o (W x + sum of s B'
/// A x) + bias, where row j of B' is B_j t g_j / c_j; a c_j between -1/1024 and 1/1024 is taken as that.
class DoraMix {
 public:
  /// Reads the adapters as they stand on the device, waiting for it. Adapters and base must outlive it.
  DoraMix(BaseModel& model, std::span<const StrongAdapter> adapters);

  struct Layer {
    Weight bare;            ///< the weight without its bias, borrowed from the base
    TensorView bias;        ///< f32 [out] or empty
    Tensor factor;          ///< f32 [out]: c
    std::vector<Tensor> b;  ///< f32 (out,r) for each adapter: B'; empty where it has no branch here
  };
  /// Of a layer that a DoRA adapter changes, else nullptr.
  const Layer* find(std::int64_t layer, std::size_t which) const;

 private:
  Layer make(BaseModel& model, std::span<const StrongAdapter> adapters,
             std::span<const std::optional<DoraState>> states, std::int64_t layer, std::size_t which) const;

  std::vector<std::array<std::optional<Layer>, linear_count>> layers_;
};

}  // namespace lorikeet
