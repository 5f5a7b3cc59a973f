// SPDX-License-Identifier: Apache-2.0
// xa (M,r) = x (M,K) A^T of every low-rank branch of a linear group, in one launch, for few rows.
// A f32 is rounded to the compute type as it is read, the sum is f32 in a fixed order and rounded to the
// compute type (design.md §10). A block makes a few rows of A times a few rows of x; its threads share K.
// Bytes: A once for each 8 rows of x (4 K r), x from cache, xa.
#include <algorithm>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/small_operands.cuh"
#include "kernels/cuda/small_steps.h"

namespace lorikeet::cuda {
namespace {

constexpr int threads = 256;
constexpr int warps = threads / 32;

/// Ranks rows of A times Rows rows of x; Step elements of K at a time.
template <typename T, int Ranks, int Rows, int Step>
__device__ __forceinline__ void add_products(const SmallOperands& operands, const SmallBranch& branch,
                                             int rank, int row, float (&sums)[Ranks][Rows]) {
  const T* x = static_cast<const T*>(operands.x);
  for (std::int64_t k = threadIdx.x * Step; k < operands.width; k += threads * Step) {
    float left[Rows][Step];
#pragma unroll
    for (int m = 0; m < Rows; ++m)
      load<Step>(x + min(row + m, operands.rows - 1) * operands.x_stride + k, left[m]);
#pragma unroll
    for (int j = 0; j < Ranks; ++j) {
      float right[Step];
      load<Step>(branch.a + min(rank + j, branch.rank - 1) * operands.width + k, right);
#pragma unroll
      for (int i = 0; i < Step; ++i) {
        const float value = rounded<T>(right[i]);
#pragma unroll
        for (int m = 0; m < Rows; ++m) sums[j][m] = fmaf(value, left[m][i], sums[j][m]);
      }
    }
  }
}

template <typename T, int Ranks, int Rows, int Step>
__global__ void __launch_bounds__(threads, 1) shrink_kernel(const __grid_constant__ SmallOperands operands) {
  __shared__ float partial[warps][Ranks * Rows];
  int i = 0;
  const int tile = static_cast<int>(blockIdx.x);
  while (i + 1 < operands.branch_count && tile >= operands.branches[i + 1].first_tile) ++i;
  const SmallBranch& branch = operands.branches[i];
  const int rank = (tile - branch.first_tile) * Ranks;
  const int row = static_cast<int>(blockIdx.y) * Rows;
  float sums[Ranks][Rows] = {};
  add_products<T, Ranks, Rows, Step>(operands, branch, rank, row, sums);
#pragma unroll
  for (int j = 0; j < Ranks; ++j) {
#pragma unroll
    for (int m = 0; m < Rows; ++m) {
      const float sum = warp_sum(sums[j][m]);
      if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32][j * Rows + m] = sum;
    }
  }
  __syncthreads();
  const int j = static_cast<int>(threadIdx.x) / Rows, m = static_cast<int>(threadIdx.x) % Rows;
  if (j >= Ranks || rank + j >= branch.rank || row + m >= operands.rows) return;
  float sum = 0;
  for (int w = 0; w < warps; ++w) sum += partial[w][j * Rows + m];
  static_cast<T*>(branch.xa)[(row + m) * branch.xa_stride + rank + j] = from_float<T>(sum);
}

template <typename T, int Ranks, int Rows>
void launch_tiles(CudaBackend& backend, SmallOperands& operands, bool vectors) {
  operands.shrink_tiles = 0;
  for (int i = 0; i < operands.branch_count; ++i) {
    operands.branches[i].first_tile = operands.shrink_tiles;
    operands.shrink_tiles += (operands.branches[i].rank + Ranks - 1) / Ranks;
  }
  const dim3 grid(static_cast<unsigned>(operands.shrink_tiles),
                  static_cast<unsigned>((operands.rows + Rows - 1) / Rows));
  const auto kernel = vectors ? shrink_kernel<T, Ranks, Rows, 4> : shrink_kernel<T, Ranks, Rows, 1>;
  launch(backend.stream(), "small_shrink", kernel, grid, threads, 0, operands);
}

}  // namespace

void small_shrink(CudaBackend& backend, DType compute, SmallOperands& operands, bool vectors) {
  with_compute_type(compute, [&]<typename T>(std::type_identity<T>) {
    if (operands.rows == 1) {
      launch_tiles<T, 1, 1>(backend, operands, vectors);
    } else if (operands.rows <= 3) {
      launch_tiles<T, 1, 3>(backend, operands, vectors);
    } else {
      launch_tiles<T, 4, 8>(backend, operands, vectors);
    }
  });
}

}  // namespace lorikeet::cuda
