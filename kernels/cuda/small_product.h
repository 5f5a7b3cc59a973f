// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace lorikeet::cuda {

class CudaBackend;

/// Linear layers of few rows straight from the stored weights: vectorised GEMV for M <= 3, fused dequantising
/// tensor-core GEMM up to the crossover of performance.md §4 for this device. f32 runs through the GEMV for M
/// <= 3 only.
class SmallProduct {
 public:
  /// Whether it is the faster way for these parts; the operands have been checked.
  static bool serves(const CudaBackend& backend, const TensorView& x, std::span<const LinearPart> parts);
  /// As Backend::linear_group_forward. xa of every branch is written.
  static void forward(CudaBackend& backend, TensorView x, std::span<const LinearPart> parts,
                      TensorView residual);
  /// logits f32 (M,V) = h (M,H) head^T [+ bias], capped when soft_cap > 0, for M <= 3.
  static void logits(CudaBackend& backend, TensorView h, const Weight& head, TensorView logits,
                     float soft_cap);
  static constexpr std::int64_t most_gemv_rows = 3;
};

}  // namespace lorikeet::cuda
