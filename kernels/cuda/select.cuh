// SPDX-License-Identifier: Apache-2.0
// The k largest of many f32 in descending order, equal ones by ascending index, by one block: radix selection
// of the k-th key, the chosen ones in the order of their indices, a stable radix sort of their 32-bit keys.
// Only integer counts are made with atomics. Bytes: 4 V for each of the 4 digits of the selection and twice
// for the choice; 16 k a sorting pass, 4 passes.
#pragma once

#include <cstdint>

#include "kernels/cuda/device.cuh"
#include "kernels/cuda/radix_sort.cuh"

namespace lorikeet::cuda::select {

__device__ __forceinline__ bool is_nan(float v) {
  return v != v;
}

/// Ascending keys are descending logits; both zeros are one key, what is no number ranks with minus infinity.
__device__ __forceinline__ std::uint32_t key_of(float logit) {
  if (is_nan(logit)) logit = -INFINITY;
  const std::uint32_t bits = logit == 0.0f ? 0 : __float_as_uint(logit);
  return ~(bits ^ ((bits >> 31) != 0 ? 0xffffffffu : 0x80000000u));
}

struct Threshold {
  std::uint32_t key;    ///< of the least likely candidate
  std::int64_t equals;  ///< how many with this key belong to the candidates: those with the lowest ids
};

/// The key of rank `count`, digit by digit from the top.
__device__ inline Threshold find_threshold(const float* logits, std::int64_t vocabulary, std::int64_t count) {
  __shared__ std::uint32_t histogram[digits];
  __shared__ std::uint32_t chosen[2];
  std::uint32_t prefix = 0;
  std::uint32_t left = static_cast<std::uint32_t>(count);
  for (int shift = 24; shift >= 0; shift -= 8) {
    if (threadIdx.x < digits) histogram[threadIdx.x] = 0;
    __syncthreads();
    for (std::int64_t first = threadIdx.x / 32 * 32; first < vocabulary; first += threads) {
      const std::int64_t i = first + threadIdx.x % 32;
      const std::uint32_t key = i < vocabulary ? key_of(logits[i]) : 0;
      const bool valid = i < vocabulary && (shift == 24 || key >> (shift + 8) == prefix);
      const unsigned digit = key >> shift & 255u;
      const unsigned peers = same_digit(valid, digit);
      if (valid && __ffs(peers) - 1 == static_cast<int>(threadIdx.x % 32))
        atomicAdd(&histogram[digit], __popc(peers));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      std::uint32_t digit = 0;
      while (histogram[digit] < left) left -= histogram[digit++];
      chosen[0] = digit;
      chosen[1] = left;
    }
    __syncthreads();
    prefix = prefix << 8 | chosen[0];
    left = chosen[1];
    __syncthreads();
  }
  return {prefix, left};
}

/// The candidates in the order of their ids.
__device__ inline void collect(const float* logits, std::int64_t vocabulary, Threshold threshold,
                               Candidates to) {
  __shared__ std::uint32_t below[warps], equal[warps];
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::int64_t stretch = stretch_of(vocabulary);
  const std::int64_t begin = warp * stretch, end = min(vocabulary, begin + stretch);
  std::uint32_t lower = 0, same = 0;
  for (std::int64_t first = begin; first < end; first += 32) {
    const std::int64_t i = first + lane;
    const std::uint32_t key = i < end ? key_of(logits[i]) : 0;
    lower += __popc(__ballot_sync(full_warp, i < end && key < threshold.key));
    same += __popc(__ballot_sync(full_warp, i < end && key == threshold.key));
  }
  if (lane == 0) {
    below[warp] = lower;
    equal[warp] = same;
  }
  __syncthreads();
  std::int64_t lower_before = 0, same_before = 0;
  for (unsigned i = 0; i < warp; ++i) {
    lower_before += below[i];
    same_before += equal[i];
  }
  const unsigned earlier = (1u << lane) - 1;
  for (std::int64_t first = begin; first < end; first += 32) {
    const std::int64_t i = first + lane;
    const std::uint32_t key = i < end ? key_of(logits[i]) : 0;
    const unsigned lower_lanes = __ballot_sync(full_warp, i < end && key < threshold.key);
    const unsigned same_lanes = __ballot_sync(full_warp, i < end && key == threshold.key);
    const std::int64_t same_rank = same_before + __popc(same_lanes & earlier);
    if (i < end && (key < threshold.key || (key == threshold.key && same_rank < threshold.equals))) {
      const std::int64_t place =
          lower_before + __popc(lower_lanes & earlier) + min(same_rank, threshold.equals);
      to.keys[place] = key;
      to.ids[place] = static_cast<std::int32_t>(i);
    }
    lower_before += __popc(lower_lanes);
    same_before += __popc(same_lanes);
  }
  __syncthreads();
}

/// The first `count` of (logits, vocabulary), 0 < count <= vocabulary, into `sorted`; `spare` is working
/// room.
__device__ inline void sort_largest(const float* logits, std::int64_t vocabulary, std::int64_t count,
                                    Candidates sorted, Candidates spare) {
  const Threshold threshold =
      count < vocabulary ? find_threshold(logits, vocabulary, count) : Threshold{0xffffffffu, vocabulary};
  collect(logits, vocabulary, threshold, sorted);
  for (int shift = 0; shift < 32; shift += 16) {
    sort_pass(sorted, spare, count, shift);
    sort_pass(spare, sorted, count, shift + 8);
  }
}

}  // namespace lorikeet::cuda::select
