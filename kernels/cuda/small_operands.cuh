// SPDX-License-Identifier: Apache-2.0
// What the kernels for few rows (gemv.cu, small_shrink.cu, small_gemm.cu) take: the parts of a linear group
// and their low-rank branches, by value.
#pragma once

#include <cstdint>

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/stored_weight.cuh"

namespace lorikeet::cuda {

constexpr int small_max_parts = 4;
constexpr int small_max_branches = 24;

struct SmallBranch {
  const float* a = nullptr;  ///< (rank,K)
  const float* b = nullptr;  ///< (N,rank)
  void* xa = nullptr;        ///< compute type (M,rank)
  std::int64_t xa_stride = 0;
  int rank = 0;
  float scale = 1;
  int first_tile = 0;  ///< of the shrink's blocks
};

struct SmallPart {
  StoredWeight weight;
  const float* bias = nullptr;
  void* y = nullptr;
  std::int64_t y_stride = 0;
  std::int64_t out = 0;         ///< N
  std::int64_t first_tile = 0;  ///< of the products' tiles
  int first_branch = 0, last_branch = 0;
};

struct SmallOperands {
  const void* x = nullptr;  ///< compute type (M,K)
  std::int64_t x_stride = 0;
  std::int64_t width = 0;  ///< K
  int rows = 0;            ///< M
  bool y_is_f32 = false;
  const void* residual = nullptr;  ///< added to the only part's y, of y's type
  std::int64_t residual_stride = 0;
  float soft_cap = 0;
  std::int64_t tiles = 0;  ///< of all parts
  int part_count = 0, branch_count = 0, shrink_tiles = 0;
  SmallPart parts[small_max_parts];
  SmallBranch branches[small_max_branches];
};

/// scale * B as the product sees it: rounded to the compute type; in f16 as if multiplied by 64 first, so
/// that small values keep their digits.
template <typename T>
__device__ __forceinline__ float rounded_factor(float b, float scale) {
  return rounded<T>(b * scale);
}
template <>
__device__ __forceinline__ float rounded_factor<f16>(float b, float scale) {
  return rounded<f16>(b * scale * 64.0f) * (1.0f / 64.0f);
}

__device__ __forceinline__ const SmallPart& part_of_tile(const SmallOperands& operands, std::int64_t tile) {
  int part = 0;
  while (part + 1 < operands.part_count && tile >= operands.parts[part + 1].first_tile) ++part;
  return operands.parts[part];
}

/// Adds bias and residual to a sum, caps it and stores y(row,column).
template <typename T>
__device__ __forceinline__ void finish_small(const SmallOperands& operands, const SmallPart& part, int row,
                                             std::int64_t column, float sum) {
  if (part.bias != nullptr) sum += part.bias[column];
  const std::int64_t from = row * operands.residual_stride + column;
  const std::int64_t to = row * part.y_stride + column;
  if (operands.y_is_f32) {
    if (operands.residual != nullptr) sum += static_cast<const float*>(operands.residual)[from];
    if (operands.soft_cap > 0) sum = operands.soft_cap * tanhf(sum / operands.soft_cap);
    static_cast<float*>(part.y)[to] = sum;
  } else {
    if (operands.residual != nullptr) sum += to_float(static_cast<const T*>(operands.residual)[from]);
    static_cast<T*>(part.y)[to] = from_float<T>(sum);
  }
}

}  // namespace lorikeet::cuda
