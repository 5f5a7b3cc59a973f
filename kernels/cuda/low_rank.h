// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/operands.h"
#include "kernels/tensor.h"

namespace lorikeet::cuda {

class CudaBackend;

/// out columns [column, column + r) = left (M,k) right^T, right (r,k) of the compute type.
struct ShrinkGroup {
  TensorView left, right;
  std::int64_t column = 0;
};

/// Columns [column, column + to.columns()) of the products once more, in a place of their own.
struct ShrinkCopy {
  TensorView to;
  std::int64_t column = 0;
};

/// The narrow products of low-rank branches, rounded to the compute type: x A^T, or dY (scale B).
/// Columns of `out` (M,tail) behind the last group become `ones` columns of one and then zeros.
struct Shrink {
  std::span<const ShrinkGroup> groups;  ///< in order of their columns, without gaps
  std::span<const ShrinkCopy> copies;
  TensorView out;
  std::int64_t ones = 0;
  float scale = 1;      ///< of the products, before rounding
  float out_scale = 1;  ///< of what goes to `out`, after rounding
};

/// One launch for up to 8 groups and 24 copies; no more are taken.
void shrink(CudaBackend& backend, const Shrink& work);
constexpr std::size_t most_shrink_groups = 8, most_shrink_copies = 24;

/// `to` = x where the branch's dropout leaves it in, else 0.
struct DroppedCopy {
  TensorView to;  ///< (M,K), x's type
  LoraDropout dropout;
};
/// One launch for up to 8 copies of the same x.
void drop(CudaBackend& backend, TensorView x, std::span<const DroppedCopy> copies);
constexpr std::size_t most_dropped_copies = 8;

/// A branch's part of its input's gradient: mask * (u (M,r) a (r,K)); a probability of 0 leaves out nothing.
struct ExpandTerm {
  TensorView u, a;
  LoraDropout dropout;
};
/// out (M,K) = [before +] the sum of the terms, in one launch for up to 8 of them.
void expand(CudaBackend& backend, std::span<const ExpandTerm> terms, TensorView before, TensorView out);
constexpr std::size_t most_expand_terms = 8;

/// gradient += scale * narrow^T wide, summed over the M rows in f32: f32 (r,n), or (n,r) when `transposed`.
/// Tasks with the same `wide` should follow each other.
struct FactorGradientTask {
  TensorView narrow;  ///< (M,r)
  TensorView wide;    ///< (M,n)
  float scale = 1;
  TensorView gradient;
  bool transposed = false;
};

/// All tasks in one launch (some, when there are more than 32 pieces of up to 64 ranks).
void add_factor_gradients(CudaBackend& backend, std::span<const FactorGradientTask> tasks);

}  // namespace lorikeet::cuda
