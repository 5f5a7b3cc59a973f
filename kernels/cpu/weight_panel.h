// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/linear_kernels.h"
#include "kernels/weight.h"

namespace lorikeet {

/// A matrix of products in memory: `data` of the product type, `leading` elements from row to row.
struct Panel {
  const void* data = nullptr;
  std::int64_t leading = 0;
};

/// Reads parts of a frozen weight as the operand of a product. Values are rounded to the compute type first;
/// the product type is bf16 where the processor multiplies bf16, else f32.
class WeightPanels {
 public:
  WeightPanels(const LinearKernels& kernels, const Weight& weight, DType compute, DType product);

  /// Whether the weight lies in memory as the product wants it, so that no buffer is needed.
  bool direct() const { return direct_; }
  /// Rows [first, first + count) of W, (count,K). The buffer holds count * K elements of the product type.
  Panel rows(std::int64_t first, std::int64_t count, void* buffer) const;
  /// Columns [first, first + count) of W, (N,count), rows `leading` apart. The buffer holds N * leading
  /// elements.
  Panel columns(std::int64_t first, std::int64_t count, std::int64_t leading, void* buffer) const;
  /// The absmax of 4-bit blocks [block, block + blocks).
  void decode_absmax(std::int64_t block, std::int64_t blocks, float* to) const;
  /// The values of the 16 codes.
  const float* code() const;

 private:
  void expand(std::int64_t first, std::int64_t count, void* to) const;
  void expand_four_bit(std::int64_t first, std::int64_t count, void* to) const;
  void expand_part_of_block(std::int64_t first, std::int64_t count, void* to) const;
  /// Blocks [block, block + blocks) of each of `rows` rows, which are `row_blocks` blocks apart.
  void expand_blocks(std::int64_t block, std::int64_t rows, std::int64_t row_blocks, std::int64_t blocks,
                     void* to, std::int64_t leading) const;
  void expand_codes(const FourBitRows& from, void* to, std::int64_t leading) const;
  void expand_int8(std::int64_t first, std::int64_t count, void* to) const;
  void expand_half(std::int64_t first, std::int64_t count, void* to) const;
  void* advance(void* to, std::int64_t elements) const;

  const LinearKernels& kernels_;
  const Weight& weight_;
  const DType product_;
  const bool rounded_;  ///< f32 products of bf16 values
  const bool direct_;
};

}  // namespace lorikeet
