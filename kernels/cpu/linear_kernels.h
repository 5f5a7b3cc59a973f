// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/cpu_info.h"

namespace lorikeet {

/// The inner loops of linear layers and of the loss: one table per instruction set. bf16 and f16 values are
/// given as their bits. The files behind it are compiled with the instruction set's flags and hold nothing
/// else.
struct LinearKernels {
  /// --- Conversion of n values; "rounded" means to bf16 and back ---
  void (*f32_to_bf16)(const float* from, std::uint16_t* to, std::int64_t n);
  void (*bf16_to_f32)(const std::uint16_t* from, float* to, std::int64_t n);
  void (*f16_to_f32)(const std::uint16_t* from, float* to, std::int64_t n);
  void (*round_f32)(const float* from, float* to, std::int64_t n);
  /// to = from * factor, and the same rounded or stored as bf16.
  void (*scale_f32)(const float* from, float factor, float* to, std::int64_t n);

  /// --- NF4: `blocks` whole blocks of 64, absmax decoded, to f32 (rounded to bf16 when asked) or to bf16 ---
  void (*nf4_to_f32)(const std::uint8_t* packed, const float* absmax, std::int64_t blocks, bool rounded,
                     float* to);
  void (*nf4_to_bf16)(const std::uint8_t* packed, const float* absmax, std::int64_t blocks,
                      std::uint16_t* to);

  /// --- The end of a product: y = sum [+ bias] [+ y] over n columns; bias may be null ---
  void (*finish_f32)(const float* sum, const float* bias, bool accumulate, float* y, std::int64_t n);
  void (*finish_bf16)(const float* sum, const float* bias, bool accumulate, std::uint16_t* y, std::int64_t n);
  /// y += factor * x.
  void (*add_scaled)(const float* x, float factor, float* y, std::int64_t n);

  /// --- Softmax over pieces of a row ---
  /// Largest of n >= 1 values, the first place it stands, and sum of exp(value - largest).
  void (*softmax_statistics)(const float* logits, std::int64_t n, float* largest, std::int64_t* place,
                             float* sum);
  /// to = factor * exp(logits - lse), as f32 (rounded when asked) or bf16; `to` may be the logits themselves.
  void (*softmax_gradient_f32)(const float* logits, float lse, float factor, bool rounded, float* to,
                               std::int64_t n);
  void (*softmax_gradient_bf16)(const float* logits, float lse, float factor, std::uint16_t* to,
                                std::int64_t n);
};

const LinearKernels& linear_kernels(Isa isa);

}  // namespace lorikeet
