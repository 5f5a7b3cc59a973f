// SPDX-License-Identifier: Apache-2.0
// A stable radix sort of pairs of a 32-bit key and an id by one block: each warp has a stretch of the
// elements, counts its digits, and puts its elements behind those of the digits and warps before. Only
// integers are counted. Bytes: 16 an element and pass.
#pragma once

#include <cstdint>

#include "kernels/cuda/device.cuh"

namespace lorikeet::cuda::select {

constexpr int threads = 1024;  // of the block
constexpr int warps = threads / 32;
constexpr int digits = 256;

struct Candidates {
  std::uint32_t* keys;  ///< smaller = more likely
  std::int32_t* ids;
};

/// Lanes with the same digit; those without an element have a mask of their own kind.
__device__ __forceinline__ unsigned same_digit(bool valid, unsigned digit) {
  return __match_any_sync(full_warp, valid ? digit : digits + 1u);
}

/// A stretch of elements for each warp, a multiple of 32 long.
__device__ __forceinline__ std::int64_t stretch_of(std::int64_t count) {
  return (count + threads - 1) / threads * 32;
}

/// counts[w][d] becomes the place of the first element with digit d of warp w.
__device__ inline void digit_places(std::uint32_t (&counts)[warps][digits]) {
  __shared__ std::uint32_t totals[digits];
  if (threadIdx.x < digits) {
    std::uint32_t sum = 0;
    for (int w = 0; w < warps; ++w) {
      const std::uint32_t count = counts[w][threadIdx.x];
      counts[w][threadIdx.x] = sum;
      sum += count;
    }
    totals[threadIdx.x] = sum;
  }
  __syncthreads();
  if (threadIdx.x < 32) {
    std::uint32_t sum = 0;
    for (int i = 0; i < 8; ++i) sum += totals[threadIdx.x * 8 + i];
    std::uint32_t until = sum;
    for (int offset = 1; offset < 32; offset <<= 1) {
      const std::uint32_t other = __shfl_up_sync(full_warp, until, offset);
      if (static_cast<int>(threadIdx.x) >= offset) until += other;
    }
    std::uint32_t place = until - sum;
    for (int i = 0; i < 8; ++i) {
      const std::uint32_t count = totals[threadIdx.x * 8 + i];
      totals[threadIdx.x * 8 + i] = place;
      place += count;
    }
  }
  __syncthreads();
  if (threadIdx.x < digits) {
    for (int w = 0; w < warps; ++w) counts[w][threadIdx.x] += totals[threadIdx.x];
  }
  __syncthreads();
}

/// One stable pass by the digit at `shift`.
__device__ inline void sort_pass(Candidates from, Candidates to, std::int64_t count, int shift) {
  __shared__ std::uint32_t counts[warps][digits];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  for (int i = threadIdx.x; i < warps * digits; i += threads) counts[i / digits][i % digits] = 0;
  __syncthreads();
  const std::int64_t stretch = stretch_of(count);
  const std::int64_t begin = warp * stretch, end = min(count, begin + stretch);
  for (std::int64_t first = begin; first < end; first += 32) {
    const bool valid = first + lane < end;
    const unsigned digit = valid ? from.keys[first + lane] >> shift & 255u : 0;
    const unsigned peers = same_digit(valid, digit);
    if (valid && __ffs(peers) - 1 == static_cast<int>(lane)) counts[warp][digit] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
  digit_places(counts);
  for (std::int64_t first = begin; first < end; first += 32) {
    const bool valid = first + lane < end;
    const std::uint32_t key = valid ? from.keys[first + lane] : 0;
    const unsigned digit = key >> shift & 255u;
    const unsigned peers = same_digit(valid, digit);
    if (valid) {
      const std::uint32_t place = counts[warp][digit] + __popc(peers & ((1u << lane) - 1));
      to.keys[place] = key;
      to.ids[place] = from.ids[first + lane];
    }
    __syncwarp();
    if (valid && __ffs(peers) - 1 == static_cast<int>(lane)) counts[warp][digit] += __popc(peers);
    __syncwarp();
  }
  __syncthreads();
}

}  // namespace lorikeet::cuda::select
