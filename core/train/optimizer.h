// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/lora_adapter.h"
#include "kernels/backend.h"

namespace lorikeet {

/// AdamW over all tensors of an adapter: 32-bit state, or bitsandbytes' 8-bit state in blocks of 256 for
/// tensors of at least 4,096 numbers (smaller ones keep 32-bit state). Owns the state on the device.
class AdapterOptimizer {
 public:
  /// `kind` is "adamw" or "adamw-8bit". All state starts at zero. The adapter must outlive it.
  AdapterOptimizer(Backend& backend, const LoraAdapter& adapter, const std::string& kind);

  /// Updates the adapter's parameters from `gradients`, a block laid out like them, unless loss or gradient
  /// are not finite; the device decides (Backend::guarded_adamw, which says what max_norm and outcome are).
  void step(TensorView gradients, const AdamStep& step, float max_norm, TensorView loss_sum,
            TensorView outcome);

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
  Tensor state_;
};

}  // namespace lorikeet
