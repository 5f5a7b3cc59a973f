// SPDX-License-Identifier: Apache-2.0
// Tiles of 16-bit rows in shared memory and their products on tensor cores. A tile has D elements a row, zeros behind
// head_dim; the 16-byte chunks of a row are permuted so that eight rows at one column lie in all banks (ldmatrix).
// Fragment layouts: PTX ISA, "Matrix Fragments for mma.m16n8k16".
#pragma once

#include "kernels/cuda/attention.cuh"

namespace lorikeet::cuda {

/// Where chunk `chunk` of row `row` lies, in elements.
template <int D>
__device__ __forceinline__ int chunk_at(int row, int chunk) {
  if constexpr (D % 64 == 0) return row * D + (chunk ^ (row & 7)) * 8;
  return row * D + (chunk ^ (row >> 1 & 3)) * 8;  // 64 bytes more than whole banks: two rows share them
}

/// Starts loading rows [first, first + R) of `rows` into a tile; rows from `end` on become zeros. Threads threads work
/// together, and wait by cp_async_wait and a barrier.
template <int D, int R, int Threads, typename Rows, typename T>
__device__ __forceinline__ void load_tile(T* tile, const Rows& rows, int first, int end, const AttentionNumbers& n) {
  constexpr int chunks = D / 8;
  static_assert(R * chunks % Threads == 0);
  if (n.vectors) {
#pragma unroll 4
    for (int i = static_cast<int>(threadIdx.x); i < R * chunks; i += Threads) {
      const int row = i / chunks;
      const int chunk = i % chunks;
      const bool valid = first + row < end && chunk * 8 < n.head_dim;
      const T* from = rows.row(valid ? first + row : 0) + (valid ? chunk * 8 : 0);
      cp_async_16(tile + chunk_at<D>(row, chunk), from, valid);
    }
    return;
  }
#pragma unroll 1
  for (int i = static_cast<int>(threadIdx.x); i < R * D; i += Threads) {
    const int row = i / D;
    const int column = i % D;
    const bool valid = first + row < end && column < n.head_dim;
    tile[chunk_at<D>(row, column / 8) + column % 8] = valid ? rows.row(first + row)[column] : from_float<T>(0);
  }
}

/// c (16, N) = rows [row, row + 16) of a times the N rows of b, over D.
template <int D, int N, typename T>
__device__ __forceinline__ void multiply_rows(float (&c)[N / 8][4], const T* a, int row, const T* b) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < N / 8; ++i) c[i][0] = c[i][1] = c[i][2] = c[i][3] = 0;
#pragma unroll
  for (int k = 0; k < D / 8; k += 2) {
    std::uint32_t left[4];
    ldmatrix_x4(left, a + chunk_at<D>(row + lane % 16, k + lane / 16));
#pragma unroll
    for (int i = 0; i < N / 8; i += 2) {
      std::uint32_t right[4];
      ldmatrix_x4(right, b + chunk_at<D>(i * 8 + lane % 8 + lane / 16 * 8, k + lane / 8 % 2));
      mma_m16n8k16<T>(c[i], left, {right[0], right[1]});
      mma_m16n8k16<T>(c[i + 1], left, {right[2], right[3]});
    }
  }
}

/// Two values rounded to T, the first in the lower half.
template <typename T>
__device__ __forceinline__ std::uint32_t packed(float low, float high);
template <>
__device__ __forceinline__ std::uint32_t packed<f16>(float low, float high) {
  const __half2 pair = __floats2half2_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}
template <>
__device__ __forceinline__ std::uint32_t packed<bf16>(float low, float high) {
  const __nv_bfloat162 pair = __floats2bfloat162_rn(low, high);
  return *reinterpret_cast<const std::uint32_t*>(&pair);
}

/// sums (16, D) += p (16, N), rounded to T, times the tile's N rows.
template <int D, int N, typename T>
__device__ __forceinline__ void accumulate_rows(float (&sums)[D / 8][4], const float (&p)[N / 8][4], const T* tile) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k = 0; k < N / 8; k += 2) {
    const std::uint32_t left[4] = {packed<T>(p[k][0], p[k][1]), packed<T>(p[k][2], p[k][3]),
                                   packed<T>(p[k + 1][0], p[k + 1][1]), packed<T>(p[k + 1][2], p[k + 1][3])};
#pragma unroll
    for (int i = 0; i < D / 8; i += 2) {
      std::uint32_t right[4];
      ldmatrix_x4_trans(right, tile + chunk_at<D>(k * 8 + lane % 16, i + lane / 16));
      mma_m16n8k16<T>(sums[i], left, {right[0], right[1]});
      mma_m16n8k16<T>(sums[i + 1], left, {right[2], right[3]});
    }
  }
}

/// Stores the warp's 16 rows of sums, row r times factors[r / 8], as rows [first, end) of `rows`. Passes through rows
/// [row, row + 16) of a tile that only this warp still uses.
template <int D, typename Rows, typename T>
__device__ __forceinline__ void store_rows(const float (&sums)[D / 8][4], const float (&factors)[2], T* tile, int row,
                                           const Rows& rows, int first, int end, const AttentionNumbers& n) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  __syncwarp();
#pragma unroll
  for (int i = 0; i < D / 8; ++i) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      T* to = tile + chunk_at<D>(row + lane / 4 + 8 * half, i) + lane % 4 * 2;
      *reinterpret_cast<std::uint32_t*>(to) =
          packed<T>(sums[i][2 * half] * factors[half], sums[i][2 * half + 1] * factors[half]);
    }
  }
  __syncwarp();
  if (n.vectors) {
#pragma unroll 2
    for (int i = lane; i < 16 * (D / 8); i += 32) {
      const int r = i / (D / 8);
      const int chunk = i % (D / 8);
      if (first + r < end && chunk * 8 < n.head_dim)
        *reinterpret_cast<uint4*>(rows.row(first + r) + chunk * 8) =
            *reinterpret_cast<const uint4*>(tile + chunk_at<D>(row + r, chunk));
    }
    return;
  }
#pragma unroll 1
  for (int i = lane; i < 16 * D; i += 32) {
    const int r = i / D;
    const int column = i % D;
    if (first + r < end && column < n.head_dim)
      rows.row(first + r)[column] = tile[chunk_at<D>(row + r, column / 8) + column % 8];
  }
}

/// Calls body(integral_constant) with the width of the smallest tile that holds head_dim <= 256 columns.
template <typename Body>
void with_tile_width(std::int64_t head_dim, const Body& body) {
  if (head_dim <= 32) return body(std::integral_constant<int, 32>());
  if (head_dim <= 64) return body(std::integral_constant<int, 64>());
  if (head_dim <= 96) return body(std::integral_constant<int, 96>());
  if (head_dim <= 128) return body(std::integral_constant<int, 128>());
  if (head_dim <= 192) return body(std::integral_constant<int, 192>());
  body(std::integral_constant<int, 256>());
}

}  // namespace lorikeet::cuda
