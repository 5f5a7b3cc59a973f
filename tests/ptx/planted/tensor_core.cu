// SPDX-License-Identifier: Apache-2.0
// Bugs around asynchronous copies and tensor cores, in one small product: d (32,8) = a (32,K) b (8,K)^T in
// f16, by two warps of 16 rows, two stages of 16 columns in shared memory.
#include <cstring>

#include "kernels/cuda/device.cuh"
#include "tests/ptx/planted/device_array.h"
#include "tests/ptx/planted/planted.h"

namespace lorikeet::planted {
namespace {

using cuda::f16;

enum Bug : int {
  none,
  wait_count,
  no_barrier_after_wait,
  no_barrier_after_use,
  swapped_fragment,
  swapped_operands,
  transposed_matrix
};
constexpr int m = 32, n = 8, step = 16;

/// As cuda::mma_m16n8k8, its two registers of A given the wrong way round inside the assembly text.
__device__ void mma_with_swapped_operands(float (&d)[4], std::uint32_t a0, std::uint32_t a1,
                                          std::uint32_t b0) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%5,%4}, {%6}, {%0,%1,%2,%3};\n"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a0), "r"(a1), "r"(b0));
}

/// Both operands' columns [k0, k0 + 16) to one stage: 16 bytes a thread.
__device__ void load_stage(f16 (*a)[step], f16 (*b)[step], const f16* from_a, const f16* from_b, int k,
                           int k0) {
  const int row = static_cast<int>(threadIdx.x) / 2, column = static_cast<int>(threadIdx.x) % 2 * 8;
  cuda::cp_async_16(&a[row][column], from_a + row * k + k0 + column, true);
  if (row < n) cuda::cp_async_16(&b[row][column], from_b + row * k + k0 + column, true);
  cuda::cp_async_commit();
}

template <int bug>
__global__ void product(const f16* a, const f16* b, float* d, int k) {
  __shared__ __align__(16) f16 tile_a[2][m][step], tile_b[2][n][step];
  const int lane = static_cast<int>(threadIdx.x) % 32, first_row = static_cast<int>(threadIdx.x) / 32 * 16;
  float sum[4] = {};
  load_stage(tile_a[0], tile_b[0], a, b, k, 0);
  for (int k0 = 0; k0 < k; k0 += step) {
    const int now = k0 / step % 2;
    const bool more = k0 + step < k;
    if (more) load_stage(tile_a[1 - now], tile_b[1 - now], a, b, k, k0 + step);
    if (bug == wait_count || more) {
      cuda::cp_async_wait<1>();
    } else {
      cuda::cp_async_wait<0>();
    }
    if (bug != no_barrier_after_wait) __syncthreads();
    std::uint32_t fa[4], fb[4];
    cuda::ldmatrix_x4(fa, &tile_a[now][first_row + lane % 16][lane / 16 * 8]);
    // Matrices 0 and 1 are the two halves of b; 2 and 3 repeat them.
    const f16* row_of_b = &tile_b[now][lane % 8][lane / 8 % 2 * 8];
    if (bug == transposed_matrix) {
      cuda::ldmatrix_x4_trans(fb, row_of_b);
    } else {
      cuda::ldmatrix_x4(fb, row_of_b);
    }
    if (bug == swapped_operands) {
      mma_with_swapped_operands(sum, fa[0], fa[1], fb[0]);
    } else {
      cuda::mma_m16n8k8(sum, bug == swapped_fragment ? fa[2] : fa[0], fa[1], fb[0]);
    }
    cuda::mma_m16n8k8(sum, bug == swapped_fragment ? fa[0] : fa[2], fa[3], fb[1]);
    if (bug != no_barrier_after_use) __syncthreads();
  }
  const int row = first_row + lane / 4, column = lane % 4 * 2;
  d[row * n + column] = sum[0];
  d[row * n + column + 1] = sum[1];
  d[(row + 8) * n + column] = sum[2];
  d[(row + 8) * n + column + 1] = sum[3];
}

template <int bug>
bool run_product() {
  constexpr int k = 5 * step;
  std::vector<std::uint16_t> a(m * k), b(n * k);
  const auto whole = [](int i) { return i * 7 % 13 - 6; };
  const auto bits = [](int value) {  // whole numbers below 2048 in f16
    const __half half = __int2half_rn(value);
    std::uint16_t out;
    memcpy(&out, &half, sizeof(out));
    return out;
  };
  for (int i = 0; i < m * k; ++i) a[static_cast<std::size_t>(i)] = bits(whole(i));
  for (int i = 0; i < n * k; ++i) b[static_cast<std::size_t>(i)] = bits(whole(3 * i + 1));
  std::vector<float> want(m * n);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      int sum = 0;
      for (int i = 0; i < k; ++i) sum += whole(row * k + i) * whole(3 * (column * k + i) + 1);
      want[static_cast<std::size_t>(row * n + column)] = static_cast<float>(sum);
    }
  }
  const DeviceArray<std::uint16_t> da(a), db(b);
  const DeviceArray<float> d(want.size());
  product<bug>
      <<<1, 64>>>(reinterpret_cast<const f16*>(da.data()), reinterpret_cast<const f16*>(db.data()), d, k);
  return d.holds(want);
}

template <int bug>
Case product_case(const char* name, const char* caught_by, int oldest_architecture = 75) {
  return {name, caught_by, [](bool planted) { return planted ? run_product<bug>() : run_product<none>(); },
          oldest_architecture};
}

}  // namespace

std::vector<Case> tensor_core_cases() {
  return {
      product_case<wait_count>("a wait for too few asynchronous copies", "not been waited for", 80),
      product_case<no_barrier_after_wait>("no barrier after the wait for copies",
                                          "race|not been waited for"),
      product_case<no_barrier_after_use>("no barrier before a stage is loaded again",
                                         "race"),
      product_case<swapped_fragment>("registers of a fragment swapped", "wrong result"),
      product_case<swapped_operands>("operands swapped inside the assembly", "wrong result"),
      product_case<transposed_matrix>("a matrix loaded transposed", "wrong result"),
  };
}

}  // namespace lorikeet::planted
