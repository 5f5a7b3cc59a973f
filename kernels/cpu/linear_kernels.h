// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/cpu_info.h"

namespace lorikeet {

/// Whole blocks of NF4 or FP4 codes, row by row.
struct FourBitRows {
  const std::uint8_t* packed;
  std::int64_t stride;  ///< bytes from row to row
  const float* absmax;  ///< decoded, (rows,blocks)
  std::int64_t rows, blocks;
  const float* code;  ///< the values of the 16 codes
};

/// `rows` rows of k values of a matrix, and m rows of activations to multiply them with.
struct DotOperands {
  const void* rows_data;
  std::int64_t rows, k;
  const void* x;
  std::int64_t x_stride;  ///< elements from activation row to activation row
  std::int64_t m;
};

/// Which elements of a row dropout leaves out (kernels/operands.h).
struct DroppedRow {
  std::uint32_t key[2];  ///< lower and upper half
  std::uint32_t use, place, threshold;
};

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

  /// values[i] = 0 where dropout leaves out element `first` + i of the row; `first` is a multiple of 4.
  void (*drop_f32)(const DroppedRow& row, std::int64_t first, float* values, std::int64_t n);

  /// --- NF4 and FP4: whole blocks of 64 ---
  /// out[i] = map[codes[i]] * nested_absmax + offset, for blocks that share one nested absmax.
  void (*decode_absmax)(const std::uint8_t* codes, const float* map, float nested_absmax, float offset,
                        float* out, std::int64_t n);
  /// Each of `rows` rows has `blocks` blocks; their codes are `stride` bytes apart, their values in `to`
  /// `leading` elements. absmax (rows,blocks) is decoded. To f32, rounded to bf16 when asked, or to bf16.
  void (*four_bit_to_f32)(const FourBitRows& from, bool rounded, float* to, std::int64_t leading);
  void (*four_bit_to_bf16)(const FourBitRows& from, std::uint16_t* to, std::int64_t leading);

  /// --- LLM.int8: n values of one row, value * absmax / 127, rounded to bf16 when asked ---
  void (*int8_to_f32)(const std::int8_t* from, float absmax, bool rounded, float* to, std::int64_t n);
  void (*int8_to_bf16)(const std::int8_t* from, float absmax, std::uint16_t* to, std::int64_t n);

  /// --- Few activations: sums of products by lane, lanes (rows, m, 16); a row's product is the sum of its 16
  /// lanes. x is f32 or bf16 as the name ends. "rounded" rounds the weights to bf16. For 4 bits, each 64
  /// activations stand with the 32 of even place first: `split` brings them there ---
  void (*split_f32)(const float* x, float* to, std::int64_t n);
  void (*split_bf16)(const std::uint16_t* x, std::uint16_t* to, std::int64_t n);
  void (*four_bit_dot_f32)(const FourBitRows& from, const DotOperands& operands, bool rounded, float* lanes);
  void (*four_bit_dot_bf16)(const FourBitRows& from, const DotOperands& operands, float* lanes);
  /// lanes += scale * w x when `accumulate`; scale * w is rounded when asked.
  void (*f32_dot_f32)(const DotOperands& operands, float scale, bool rounded, bool accumulate, float* lanes);
  void (*f16_dot_f32)(const DotOperands& operands, bool rounded, float* lanes);
  void (*bf16_dot_f32)(const DotOperands& operands, float* lanes);
  void (*f16_dot_bf16)(const DotOperands& operands, float* lanes);
  void (*bf16_dot_bf16)(const DotOperands& operands, float* lanes);
  /// sums (m,16) of lanes (rows, m, 16), rows <= 16.
  void (*add_lanes)(const float* lanes, std::int64_t rows, std::int64_t m, float* sums);

  /// --- The end of a product: y = sum [+ bias] [+ y] over n columns; bias may be null ---
  void (*finish_f32)(const float* sum, const float* bias, bool accumulate, float* y, std::int64_t n);
  void (*finish_bf16)(const float* sum, const float* bias, bool accumulate, std::uint16_t* y, std::int64_t n);
  /// y += factor * x.
  void (*add_scaled)(const float* x, float factor, float* y, std::int64_t n);

  /// --- Softmax over pieces of a row; arguments far below `largest` count as exp(-87) ---
  float (*largest)(const float* logits, std::int64_t n);  ///< n >= 1; NaN when the first is
  /// Sum of exp(logits - largest), and the exponentials themselves, rounded to bf16 after they were added.
  float (*sum_of_exponentials)(const float* logits, float largest, std::int64_t n);
  float (*exponentials_f32)(const float* logits, float largest, bool rounded, float* to, std::int64_t n);
  float (*exponentials_bf16)(const float* logits, float largest, std::uint16_t* to, std::int64_t n);
};

const LinearKernels& linear_kernels(Isa isa);

}  // namespace lorikeet
