// SPDX-License-Identifier: Apache-2.0
// Tiles of f32 rows in shared memory, for the kernels whose products are exact: eight threads work on a row.
#pragma once

#include "kernels/cuda/attention.cuh"

namespace lorikeet::cuda {

/// Elements between rows of a tile: 16 bytes more, so that eight rows lie in all banks.
__host__ __device__ constexpr int single_pitch(int head_dim) { return (head_dim + 3) / 4 * 4 + 4; }

/// Copies rows [first, first + count) into a tile; zeros behind the end and behind head_dim.
template <int Threads, typename Rows>
__device__ __forceinline__ void single_load(float* tile, const Rows& rows, int first, int count, int end, int pitch,
                                            int head_dim) {
  for (int r = static_cast<int>(threadIdx.x / 32); r < count; r += Threads / 32) {
    const float* from = rows.row(first + r < end ? first + r : 0);
    for (int c = static_cast<int>(threadIdx.x % 32); c < pitch - 4; c += 32) {
      tile[r * pitch + c] = first + r < end && c < head_dim ? from[c] : 0.0f;
    }
  }
}

__device__ __forceinline__ float eight_sum(float v) {
  for (int offset = 1; offset < 8; offset *= 2) v += __shfl_xor_sync(full_warp, v, offset);
  return v;
}
__device__ __forceinline__ float eight_max(float v) {
  for (int offset = 1; offset < 8; offset *= 2) v = fmaxf(v, __shfl_xor_sync(full_warp, v, offset));
  return v;
}

/// The product of two rows of tiles.
__device__ __forceinline__ float single_product(const float* a, const float* b, int pitch) {
  float sum = 0;
#pragma unroll 1
  for (int c = 0; c < pitch - 4; c += 4) {
    const float4 left = *reinterpret_cast<const float4*>(a + c);
    const float4 right = *reinterpret_cast<const float4*>(b + c);
    sum += left.x * right.x + left.y * right.y + left.z * right.z + left.w * right.w;
  }
  return sum;
}

/// A thread's part of sums (.., head_dim): columns 4 (thread % 8) + 32 i.
struct SingleSums {
  float4 part[8];

  __device__ __forceinline__ void scale(float factor) {
#pragma unroll
    for (int i = 0; i < 8; ++i)
      part[i] = make_float4(part[i].x * factor, part[i].y * factor, part[i].z * factor, part[i].w * factor);
  }
  /// += weights [count] times rows of a tile.
  __device__ __forceinline__ void add(const float* weights, const float* tile, int count, int pitch) {
    const int column = static_cast<int>(threadIdx.x % 8) * 4;
#pragma unroll 1
    for (int j = 0; j < count; ++j) {
      const float weight = weights[j];
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        if (column + 32 * i < pitch - 4) {
          const float4 value = *reinterpret_cast<const float4*>(tile + j * pitch + column + 32 * i);
          part[i] = make_float4(part[i].x + weight * value.x, part[i].y + weight * value.y,
                                part[i].z + weight * value.z, part[i].w + weight * value.w);
        }
      }
    }
  }
  __device__ __forceinline__ void store(float* row, int head_dim) const {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      const float values[4] = {part[i].x, part[i].y, part[i].z, part[i].w};
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int column = static_cast<int>(threadIdx.x % 8) * 4 + 32 * i + e;
        if (column < head_dim) row[column] = values[e];
      }
    }
  }
};

}  // namespace lorikeet::cuda
