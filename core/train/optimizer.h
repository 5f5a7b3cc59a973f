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
  /// `kind` is "adamw" or "adamw-8bit". All state starts at zero.
  AdapterOptimizer(Backend& backend, const LoraAdapter& adapter, const std::string& kind);

  /// Updates the adapter's parameters from `gradients`, a block laid out like them.
  void step(TensorView gradients, const AdamStep& step);

  /// State as one block of bytes in a fixed order, for checkpoints; the same adapter and kind give the same
  /// size.
  std::vector<char> save() const;
  /// Throws Error(bad_format) when the size is another one.
  void restore(const std::vector<char>& state);
  std::uint64_t bytes() const;

 private:
  /// Views of one adapter tensor's state; m and v for 32-bit, `wide8` for 8-bit.
  struct Part {
    TensorView parameter;
    std::int64_t offset = 0;  ///< of its gradient in the block, in numbers
    bool is_8bit = false;
    bool decay_last = false;  ///< 32-bit state of adamw-8bit: the order of bitsandbytes' CUDA kernels
    TensorView m, v;
    Adam8bitState eight;
  };
  Backend& backend_;
  std::vector<Part> parts_;
  Tensor state_;
};

}  // namespace lorikeet
