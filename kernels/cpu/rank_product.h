// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/cpu/gemm.h"
#include "kernels/cpu/linear_kernels.h"
#include "kernels/cpu/tiled_product.h"

namespace lorikeet {

/// The narrow products of a low-rank branch, tile by tile.
///
/// RankProduct: out (M,r) = left (M,k) right (k,r), rounded to the compute type: x A^T and dy B.
class RankProduct {
 public:
  struct Spec {
    std::int64_t rows = 0, rank = 0, depth = 0;
    Operand left, right, out;  ///< out of the product type
    bool right_transposed = false;
    TensorView stored;  ///< also written in the compute type when its memory is not out's
    DType compute = DType::f32, product = DType::f32;
    float scale = 1;  ///< of the products, before they are rounded
  };
  RankProduct(Gemm& gemm, const LinearKernels& kernels, const Spec& spec);

  std::int64_t count() const { return grid_.count(); }
  void make_tile(Gemm& gemm, std::int64_t i, int thread, float* sum) const;

 private:
  const LinearKernels& kernels_;
  const Spec spec_;
  const TileGrid grid_;
  const GridProducts products_;
};

/// Gradient of a factor: dA (r,K) += u^T x, or dB (N,r) += scale * dy^T xa; sums over the M rows in f32.
class FactorGradient {
 public:
  struct Spec {
    std::int64_t rows = 0;         ///< M
    std::int64_t out = 0, in = 0;  ///< of the factor
    Operand left, right;           ///< (M,out) and (M,in)
    float scale = 1;
    DType product = DType::f32;
    float* gradient = nullptr;
  };
  FactorGradient(Gemm& gemm, const LinearKernels& kernels, const Spec& spec);

  std::int64_t count() const { return grid_.count(); }
  void add_tile(Gemm& gemm, std::int64_t i, int thread, float* sum) const;

 private:
  const LinearKernels& kernels_;
  const Spec spec_;
  const TileGrid grid_;
  const GridProducts products_;
};

}  // namespace lorikeet
