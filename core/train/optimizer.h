// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/lora_adapter.h"
#include "kernels/backend.h"

namespace lorikeet {

/// Norms (roots of sums of squares) of the adapter in one layer.
struct LayerNorms {
  double gradient = 0;   ///< before clipping
  double update = 0;     ///< what the step changed
  double parameter = 0;  ///< after it
};

/// AdamW over all tensors of an adapter: 32-bit state, or bitsandbytes' 8-bit state in blocks of 256 for
/// tensors of at least 4,096 numbers (smaller ones keep 32-bit state). Owns the state on the device.
class AdapterOptimizer {
 public:
  /// `kind` is "adamw" or "adamw-8bit". All state starts at zero. The adapter must outlive it.
  AdapterOptimizer(Backend& backend, const LoraAdapter& adapter, const std::string& kind);

  /// Updates the adapter's parameters from `gradients`, a block laid out like them, unless loss or gradient
  /// are not finite; the device decides (Backend::guarded_adamw, which says what max_norm and outcome are).
  /// `norms` f64 (part_count(), norms_count) or empty.
  void step(TensorView gradients, const AdamStep& step, float max_norm, TensorView loss_sum,
            TensorView outcome, TensorView norms = {});
  std::int64_t part_count() const { return static_cast<std::int64_t>(parts_.size()); }
  /// What the norms of all parts say of each layer.
  std::vector<LayerNorms> by_layer(const double* norms) const;

  /// State as one block of bytes in a fixed order, for checkpoints; the same adapter and kind give the same
  /// size.
  std::vector<char> save() const;
  /// Throws Error(bad_format) when the size is another one.
  void restore(const std::vector<char>& state);
  /// Throws Error(numeric) when a state as save() gives it holds a moment that is not finite.
  void require_finite(const std::vector<char>& state) const;
  std::uint64_t bytes() const;

 private:
  Backend& backend_;
  TensorView parameters_;
  std::vector<AdamPart> parts_;
  std::vector<std::int64_t> layers_;  ///< of each part
  Tensor state_;
};

}  // namespace lorikeet
