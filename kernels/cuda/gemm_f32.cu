// SPDX-License-Identifier: Apache-2.0
// d (M,N) = a (M,K) b^T [+ c], all f32, for machines without cuBLASLt and for operands it refuses.
// Contract: gemm.h; b (N,K) or (K,N), rows with gaps, any M, N, K.
// Accumulator: f32 fused multiply-add in sums of 16 products, themselves summed in order of K.
// Source: register-tiled product through shared memory; float_tile.cuh.
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/float_tile.cuh"
#include "kernels/cuda/gemm_own.h"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

struct Target {
  float* d = nullptr;
  std::int64_t stride = 0;
  const float* c = nullptr;
  std::int64_t c_stride = 0;
};

template <bool BTransposed>
__global__ void __launch_bounds__(256)
    product_f32_kernel(Matrix<float> a, Matrix<float> b, Target target, int columns) {
  using Tile = FloatTile<false, BTransposed>;
  __shared__ __align__(16) unsigned char shared[Tile::shared_bytes];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, n0 = static_cast<int>(blockIdx.x) * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, a, m0, b, n0, a.columns, shared);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = m0 + Tile::row(i);
    if (row >= a.rows) continue;
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int column = n0 + Tile::column(j);
      if (column >= columns) continue;
      const float before = target.c ? target.c[row * target.c_stride + column] : 0.0f;
      target.d[row * target.stride + column] = sums[i][j] + before;
    }
  }
}

}  // namespace

void multiply_in_f32(CudaBackend& backend, const Product& product) {
  Target target;
  target.d = product.d.as<float>();
  target.stride = product.d.stride();
  if (product.c) {
    target.c = product.c.as<const float>();
    target.c_stride = product.c.stride();
  }
  const auto rows = static_cast<int>(product.d.rows()), columns = static_cast<int>(product.d.columns());
  const dim3 grid(static_cast<unsigned>((columns + 63) / 64), static_cast<unsigned>((rows + 63) / 64));
  const auto kernel = product.b_transposed ? product_f32_kernel<true> : product_f32_kernel<false>;
  launch(backend.stream(), "product_f32_kernel", kernel, grid, dim3(256), 0, Matrix<float>(product.a),
         Matrix<float>(product.b), target, columns);
}

}  // namespace lorikeet::cuda
