// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tensor.h"
#include "kernels/weight.h"

namespace lorikeet::cuda {

class CudaBackend;

/// Rows [first_row, first_row + to.rows()) of a weight of any format, rounded to the compute type of `to`
/// (rows,K).
struct DequantizeTask {
  const Weight* weight = nullptr;
  std::int64_t first_row = 0;
  TensorView to;
};

/// All tasks in one launch.
void dequantize(CudaBackend& backend, std::span<const DequantizeTask> tasks);

/// Part of a matrix that is made of an f32 factor: zero but for columns [first, first + count), where
/// to(i,first+j) = scale * from[i * row_step + j * column_step], rounded. With `remainder` it is what
/// rounding the values themselves leaves: v - rounded(v).
struct FactorTask {
  TensorView to;
  const float* from = nullptr;
  std::int64_t row_step = 0, column_step = 0;
  float scale = 1;
  std::int64_t first = 0, count = 0;
  bool remainder = false;
};

/// Weights and factors of one linear group, all of one compute type, in one launch (some, beyond 16 tasks).
void dequantize(CudaBackend& backend, std::span<const DequantizeTask> weights,
                std::span<const FactorTask> factors);

}  // namespace lorikeet::cuda
