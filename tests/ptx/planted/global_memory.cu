// SPDX-License-Identifier: Apache-2.0
// Bugs of addresses in global memory.
#include <cstdint>

#include "tests/ptx/planted/device_array.h"
#include "tests/ptx/planted/planted.h"

namespace lorikeet::planted {
namespace {

/// y = 2x; the bug: i > n where i >= n is meant.
template <bool planted>
__global__ void twice(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (planted ? i > n : i >= n) return;
  y[i] = 2 * x[i];
}
template <bool planted>
bool run_twice() {
  const std::vector<float> x = counted(100);
  std::vector<float> want = x;
  for (float& v : want) v *= 2;
  const DeviceArray<float> in(x), out(100);
  twice<planted><<<4, 32>>>(in, out, 100);
  return out.holds(want);
}

/// Rows with gaps packed; the bug: the width is taken for the distance of rows.
template <bool planted>
__global__ void pack(const float* x, float* y, int width, int stride) {
  y[blockIdx.x * width + threadIdx.x] = x[blockIdx.x * (planted ? width : stride) + threadIdx.x];
}
template <bool planted>
bool run_pack() {
  const std::vector<float> x = counted(5 * 12);
  std::vector<float> want;
  for (std::size_t row = 0; row < 5; ++row) want.insert(want.end(), &x[row * 12], &x[row * 12] + 9);
  const DeviceArray<float> in(x), out(5 * 9);
  pack<planted><<<5, 9>>>(in, out, 9, 12);
  return out.holds(want);
}

/// Sums of pairs by a work array; the bug: the second half of the array is never written.
template <bool planted>
__global__ void to_work(const float* x, float* work) {
  if (planted && threadIdx.x >= 16) return;
  work[threadIdx.x] = x[threadIdx.x];
}
__global__ void from_work(const float* work, float* y) {
  y[threadIdx.x] = work[threadIdx.x] + work[31 - threadIdx.x];
}
template <bool planted>
bool run_work() {
  const std::vector<float> x = counted(32);
  std::vector<float> want(32);
  for (std::size_t i = 0; i < 32; ++i) want[i] = x[i] + x[31 - i];
  const DeviceArray<float> in(x), work(32), out(32);
  to_work<planted><<<1, 32>>>(in, work);
  from_work<<<1, 32>>>(work, out);
  return out.holds(want);
}

/// Rows of 18 floats copied, 16 bytes at a time where rows are aligned; the bug: the question is not asked.
template <bool planted>
__global__ void copy_rows(const float* x, float* y, int width) {
  const float* from = x + blockIdx.x * width;
  float* to = y + blockIdx.x * width;
  const bool aligned = reinterpret_cast<std::uintptr_t>(from) % 16 == 0;
  const int i = static_cast<int>(threadIdx.x);
  if (planted || aligned) {
    if (i < width / 4)
      *reinterpret_cast<float4*>(to + 4 * i) = *reinterpret_cast<const float4*>(from + 4 * i);
    if (i < width % 4) to[width / 4 * 4 + i] = from[width / 4 * 4 + i];
  } else {
    for (int j = i; j < width; j += 8) to[j] = from[j];
  }
}
template <bool planted>
bool run_copy_rows() {
  const std::vector<float> x = counted(4 * 18);
  const DeviceArray<float> in(x), out(x.size());
  copy_rows<planted><<<4, 8>>>(in, out, 18);
  return out.holds(x);
}

/// Block sums into one number each, then a total; the bug: every block adds to the same number, unordered.
template <bool planted>
__global__ void block_totals(const float* x, float* totals) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[blockIdx.x * 16 + i];
  if (planted) {
    totals[0] += sum;
  } else {
    totals[blockIdx.x] += sum;
  }
}
template <bool planted>
bool run_block_totals() {
  const std::vector<float> x = counted(4 * 16);
  std::vector<float> want(4);
  for (std::size_t i = 0; i < x.size(); ++i) want[planted ? 0 : i / 16] += x[i];
  const DeviceArray<float> in(x), out(std::vector<float>(4, 0.0f));
  block_totals<planted><<<4, 32>>>(in, out);
  return out.holds(want);
}

/// One row of a matrix with rows far apart; the bug: the offset is computed in 32 bits.
template <bool planted>
__global__ void far_row(const float* x, float* y, int row, std::int64_t stride) {
  const std::int64_t offset = planted ? row * static_cast<int>(stride) : row * stride;
  y[threadIdx.x] = x[offset + threadIdx.x];
}
template <bool planted>
bool run_far_row() {
  const std::vector<float> x = counted(32);
  const DeviceArray<float> in(x), out(32);
  constexpr std::int64_t stride = 1500000000;
  far_row<planted><<<1, 32>>>(in - 3 * stride, out, 3, stride);
  return out.holds(x);
}

/// Several blocks shift an array in place; the bug: a block reads what its neighbour writes.
template <bool planted>
__global__ void shift(const float* x, float* y, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const float* from = planted ? y : x;
  y[i] = from[(i + 1) % n];
}
template <bool planted>
bool run_shift() {
  const std::vector<float> x = counted(96);
  std::vector<float> want(96);
  for (std::size_t i = 0; i < 96; ++i) want[i] = x[(i + 1) % 96];
  const DeviceArray<float> in(x), out(x);
  shift<planted><<<3, 32>>>(in, out, 96);
  return out.holds(want);
}

}  // namespace

std::vector<Case> global_memory_cases() {
  return {
      {"a bound that is off by one", "outside",
       [](bool planted) { return planted ? run_twice<true>() : run_twice<false>(); }},
      {"the width taken for the stride", "wrong result",
       [](bool planted) { return planted ? run_pack<true>() : run_pack<false>(); }},
      {"global memory that was never written", "never written",
       [](bool planted) { return planted ? run_work<true>() : run_work<false>(); }},
      {"a vector load that is not aligned", "misaligned",
       [](bool planted) { return planted ? run_copy_rows<true>() : run_copy_rows<false>(); }},
      {"blocks adding to one number", "race",
       [](bool planted) { return planted ? run_block_totals<true>() : run_block_totals<false>(); }},
      {"an index that overflows 32 bits", "outside",
       [](bool planted) { return planted ? run_far_row<true>() : run_far_row<false>(); }},
      {"blocks reading what others write", "race",
       [](bool planted) { return planted ? run_shift<true>() : run_shift<false>(); }},
  };
}

}  // namespace lorikeet::planted
