// SPDX-License-Identifier: Apache-2.0
// One output tile of a product by f32 arithmetic: the inner loop of gemm_f32.cu, and of shrink.cu and
// factor_gradient.cu for f32.
//   tile (m,n) = sum over k of a(m,k) b(n,k); operands may lie transposed; what is outside an operand counts
//   as zero.
// Accumulator f32.
#pragma once

#include "kernels/cuda/matrix.cuh"

namespace lorikeet::cuda {

/// A 64 x 64 tile in f32 by 256 threads, four by four sums each. Every 16 products are summed by themselves
/// first, which keeps the error of long sums small.
template <bool ATransposed, bool BTransposed>
struct FloatTile {
  static constexpr int m = 64, n = 64, threads = 256;
  static constexpr int depth_step = 16, pitch = 64 + 4;
  static constexpr int shared_bytes = 2 * depth_step * pitch * 4;
  using Sums = float[4][4];

  /// sums[i][j] belongs to (row(i), column(j)) of the tile.
  __device__ static int row(int i) { return static_cast<int>(threadIdx.x) / 16 * 4 + i; }
  __device__ static int column(int j) { return static_cast<int>(threadIdx.x) % 16 * 4 + j; }

  __device__ static void run(Sums& sums, const Matrix<float>& a, int m0, const Matrix<float>& b, int n0,
                             int depth, unsigned char* shared) {
    float* const a_shared = reinterpret_cast<float*>(shared);
    float* const b_shared = a_shared + depth_step * pitch;
#pragma unroll
    for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] = 0;
    for (int k0 = 0; k0 < depth; k0 += depth_step) {
      __syncthreads();
      load<ATransposed>(a_shared, a, m0, k0);
      load<BTransposed>(b_shared, b, n0, k0);
      __syncthreads();
      float part[4][4] = {};
#pragma unroll
      for (int k = 0; k < depth_step; ++k) {
        const float4 av = *reinterpret_cast<const float4*>(a_shared + k * pitch + row(0));
        const float4 bv = *reinterpret_cast<const float4*>(b_shared + k * pitch + column(0));
        const float as[4] = {av.x, av.y, av.z, av.w}, bs[4] = {bv.x, bv.y, bv.z, bv.w};
#pragma unroll
        for (int e = 0; e < 16; ++e) part[e / 4][e % 4] = fmaf(as[e / 4], bs[e % 4], part[e / 4][e % 4]);
      }
#pragma unroll
      for (int e = 0; e < 16; ++e) sums[e / 4][e % 4] += part[e / 4][e % 4];
    }
  }

 private:
  /// As (k,m), whichever way the operand lies; neighbouring threads read neighbouring elements.
  template <bool Transposed>
  __device__ static void load(float* to, const Matrix<float>& from, int m0, int k0) {
#pragma unroll
    for (int first = 0; first < 64 * depth_step; first += threads) {
      const int i = first + static_cast<int>(threadIdx.x);
      const int k = Transposed ? i / 64 : i % depth_step, at = Transposed ? i % 64 : i / depth_step;
      const int row = Transposed ? k0 + k : m0 + at, column = Transposed ? m0 + at : k0 + k;
      const bool inside = row < from.rows && column < from.columns;
      to[k * pitch + at] = inside ? from.data[row * from.stride + column] : 0.0f;
    }
  }
};

}  // namespace lorikeet::cuda
