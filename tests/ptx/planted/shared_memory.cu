// SPDX-License-Identifier: Apache-2.0
// Bugs of barriers, shuffles and shared memory.
#include "kernels/cuda/device.cuh"
#include "tests/ptx/planted/device_array.h"
#include "tests/ptx/planted/planted.h"

namespace lorikeet::planted {
namespace {

constexpr unsigned full = 0xffffffffu;

/// out[0] = sum of 128 values by warps; the bug: partial sums are read without waiting for the other warps.
template <bool planted>
__global__ void sum_of_warps(const float* x, float* out) {
  __shared__ float parts[4];
  const float sum = cuda::warp_sum(x[threadIdx.x]);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  if (!planted) __syncthreads();
  if (threadIdx.x == 0) out[0] = parts[0] + parts[1] + parts[2] + parts[3];
}
template <bool planted>
bool run_sum_of_warps() {
  const std::vector<float> x = counted(128);
  const DeviceArray<float> in(x), out(1);
  sum_of_warps<planted><<<1, 128>>>(in, out);
  float sum = 0;
  for (const float v : x) sum += v;
  return out.holds({sum});
}

/// Every row of 64 reversed through one tile; the bug: the tile is filled again while others still read it.
template <bool planted>
__global__ void reverse_rows(const float* x, float* out, int rows) {
  __shared__ float tile[64];
  for (int row = 0; row < rows; ++row) {
    tile[threadIdx.x] = x[row * 64 + threadIdx.x];
    __syncthreads();
    out[row * 64 + threadIdx.x] = tile[63 - threadIdx.x];
    if (!planted) __syncthreads();
  }
}
template <bool planted>
bool run_reverse_rows() {
  const std::vector<float> x = counted(5 * 64);
  std::vector<float> want(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) want[i] = x[i / 64 * 64 + 63 - i % 64];
  const DeviceArray<float> in(x), out(x.size());
  reverse_rows<planted><<<1, 64>>>(in, out, 5);
  return out.holds(want);
}

/// Neighbours of a warp change values through shared memory; the bug: no __syncwarp between write and read.
template <bool planted>
__global__ void rotate_in_warp(const float* x, float* out) {
  __shared__ float values[32];
  values[threadIdx.x] = x[threadIdx.x];
  if (!planted) __syncwarp();
  out[threadIdx.x] = values[(threadIdx.x + 1) % 32];
}
template <bool planted>
bool run_rotate_in_warp() {
  const std::vector<float> x = counted(32);
  std::vector<float> want(32);
  for (std::size_t i = 0; i < 32; ++i) want[i] = x[(i + 1) % 32];
  const DeviceArray<float> in(x), out(32);
  rotate_in_warp<planted><<<1, 32>>>(in, out);
  return out.holds(want);
}

/// Sum of a padded tile; the bug: the padding was never set.
template <bool planted>
__global__ void padded_sum(const float* x, float* out, int count) {
  __shared__ float tile[64];
  if (static_cast<int>(threadIdx.x) < count) tile[threadIdx.x] = x[threadIdx.x];
  if (!planted && static_cast<int>(threadIdx.x) >= count) tile[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < 64; ++i) sum += tile[i];
  out[0] = sum;
}
template <bool planted>
bool run_padded_sum() {
  const std::vector<float> x = counted(50);
  float sum = 0;
  for (const float v : x) sum += v;
  const DeviceArray<float> in(x), out(1);
  padded_sum<planted><<<1, 64>>>(in, out, 50);
  return out.holds({sum});
}

/// Adds the value of the next thread, for the first `count` threads; the bug: lanes of one warp wait at two
/// barriers.
template <bool planted>
__global__ void add_next(const float* x, float* out, int count) {
  __shared__ float tile[96];
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = x[i];
  if (planted) {
    if (i < count) __syncthreads();
    if (i < count) out[i] = tile[i] + tile[i + 1];
    if (i >= count) __syncthreads();
  } else {
    __syncthreads();
    if (i < count) out[i] = tile[i] + tile[i + 1];
  }
}
template <bool planted>
bool run_add_next() {
  const std::vector<float> x = counted(96);
  std::vector<float> want(40);
  for (std::size_t i = 0; i < 40; ++i) want[i] = x[i] + x[i + 1];
  const DeviceArray<float> in(x), out(40);
  add_next<planted><<<1, 96>>>(in, out, 40);
  return out.holds(want);
}

/// Sum over 16 lanes; the bug: the mask names the other 16 lanes too, which have gone on.
template <bool planted>
__global__ void half_warp_sum(const float* x, float* out) {
  float v = x[threadIdx.x];
  if (threadIdx.x < 16) {
    for (int offset = 8; offset > 0; offset /= 2) v += __shfl_xor_sync(planted ? full : 0xffffu, v, offset);
  }
  __syncwarp();
  if (threadIdx.x == 0) out[0] = v;
}
template <bool planted>
bool run_half_warp_sum() {
  const std::vector<float> x = counted(32);
  float sum = 0;
  for (std::size_t i = 0; i < 16; ++i) sum += x[i];
  const DeviceArray<float> in(x), out(1);
  half_warp_sum<planted><<<1, 32>>>(in, out);
  return out.holds({sum});
}

/// Sum over a warp; the bug: the first step is left out.
template <bool planted>
__global__ void short_warp_sum(const float* x, float* out) {
  float v = x[threadIdx.x];
  for (int offset = planted ? 8 : 16; offset > 0; offset /= 2) v += __shfl_xor_sync(full, v, offset);
  if (threadIdx.x == 0) out[0] = v;
}
template <bool planted>
bool run_short_warp_sum() {
  const std::vector<float> x = counted(32);
  float sum = 0;
  for (const float v : x) sum += v;
  const DeviceArray<float> in(x), out(1);
  short_warp_sum<planted><<<1, 32>>>(in, out);
  return out.holds({sum});
}

}  // namespace

std::vector<Case> shared_memory_cases() {
  return {
      {"no barrier before partial sums are read", "never written|race",
       [](bool planted) { return planted ? run_sum_of_warps<true>() : run_sum_of_warps<false>(); }},
      {"no barrier before a tile is filled again", "race",
       [](bool planted) { return planted ? run_reverse_rows<true>() : run_reverse_rows<false>(); }},
      {"no __syncwarp between lanes", "race",
       [](bool planted) { return planted ? run_rotate_in_warp<true>() : run_rotate_in_warp<false>(); }},
      {"shared memory that was never set", "never written",
       [](bool planted) { return planted ? run_padded_sum<true>() : run_padded_sum<false>(); }},
      {"a barrier in a branch of a warp", "deadlock",
       [](bool planted) { return planted ? run_add_next<true>() : run_add_next<false>(); }},
      {"a shuffle mask with lanes that do not come", "deadlock",
       [](bool planted) { return planted ? run_half_warp_sum<true>() : run_half_warp_sum<false>(); }},
      {"a warp sum without its first step", "wrong result",
       [](bool planted) { return planted ? run_short_warp_sum<true>() : run_short_warp_sum<false>(); }},
  };
}

}  // namespace lorikeet::planted
