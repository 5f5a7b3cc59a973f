// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

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

/// All tasks in one launch. (linear.cpp also fills the LoRA columns or rows of its buffer in that launch.)
void dequantize(CudaBackend& backend, std::span<const DequantizeTask> tasks);

}  // namespace lorikeet::cuda
