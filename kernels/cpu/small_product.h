// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/cpu/linear_kernels.h"
#include "kernels/cpu/weight_panel.h"
#include "kernels/weight.h"

namespace lorikeet {

/// y (M,N) = x W^T for few rows of x, as in chat: 4-bit weights are multiplied as they are expanded, in
/// registers, so that the time is that of reading them. Output columns are made in groups of 16.
class SmallProduct {
 public:
  /// Whether so few rows are faster here than through panels and oneDNN (measured).
  static bool serves(const Weight& weight, DType product, std::int64_t rows);
  static constexpr std::int64_t rows_at_once = 8;  ///< whose sums by lane stay in the first-level cache
  static constexpr std::int64_t group = 16;        ///< columns of y

  /// One more product in the sum: scale * left (M,depth) right^T, right f32 (N,depth); scale * right is
  /// rounded.
  struct Term {
    const float* left = nullptr;
    const float* right = nullptr;
    std::int64_t depth = 0;
    float scale = 1;
  };

  SmallProduct(const LinearKernels& kernels, const Weight& weight, DType compute, DType product,
               std::int64_t rows);

  /// Bytes for x in the order that the weights are read in; of a thread's buffer.
  std::int64_t x_bytes() const;
  std::int64_t buffer_bytes() const;
  /// Fills the former from x (M,K) of the compute type.
  void place_x(TensorView x, void* memory);
  std::int64_t groups() const { return (weight_.out + group - 1) / group; }
  /// Columns [16 i, 16 i + 16) of y, which is of the compute type or f32.
  void make_group(std::int64_t i, std::span<const Term> terms, bool accumulate, TensorView y,
                  void* buffer) const;

 private:
  /// How the weights are read: 4 bits in whole blocks; expanded to a panel where rows begin within blocks,
  /// and int8; as they are.
  enum class Path { blocks, panel, dense };
  const void* read_weights(std::int64_t first, std::int64_t count, float* buffer) const;
  void multiply(const void* weights, std::int64_t first, std::int64_t count, std::int64_t row,
                std::int64_t rows, float* lane_sums) const;

  const LinearKernels& kernels_;
  const Weight& weight_;
  const WeightPanels panels_;
  const DType compute_;
  const std::int64_t rows_;
  Path path_ = Path::dense;
  DType x_type_ = DType::f32;
  const void* x_ = nullptr;
  std::int64_t x_stride_ = 0;
};

}  // namespace lorikeet
