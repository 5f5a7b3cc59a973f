// SPDX-License-Identifier: Apache-2.0
// out (M,r) = left (M,k) right^T for all branches of a linear group: x A^T in the forward, dY (scale B) in
// the backward. Contract: low_rank.h; operands of one compute type, rows with gaps. The products go behind
// the rows of x or dY, where the big product reads them, and (x A^T) into the branches' own xa. Accumulator:
// f32, one order for every shape; one rounding to the compute type. Bytes: left once (the blocks of a row
// read the same part of it), right once, out and copies once: 2TK + small. Source: LoRA (Hu et al. 2021)
// bracketed through the rank; tiles as in gemm_tensor.cu.
#include <algorithm>

#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/float_tile.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/low_rank.h"
#include "kernels/cuda/tile.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T>
struct Group {
  Matrix<T> left, right;
  int column = 0, first_tile = 0;
};
template <typename T>
struct Copy {
  T* to = nullptr;
  std::int64_t stride = 0;
  int column = 0, columns = 0;
};
template <typename T>
struct Task {
  Group<T> group[most_shrink_groups];
  Copy<T> copy[most_shrink_copies];
  int groups = 0, copies = 0, rows = 0;
  T* out = nullptr;
  std::int64_t stride = 0;
  int fill_from = 0, fill_to = 0, ones = 0;
  float scale = 1, out_scale = 1;
};

template <typename T>
__device__ void store(const Task<T>& task, int row, int column, float sum) {
  const T value = from_float<T>(sum * task.scale);
  task.out[row * task.stride + column] = from_float<T>(to_float(value) * task.out_scale);
  for (int i = 0; i < task.copies; ++i) {
    const Copy<T>& copy = task.copy[i];
    const int at = column - copy.column;
    if (at >= 0 && at < copy.columns) copy.to[row * copy.stride + at] = value;
  }
}

/// What lies behind the products in rows [m0, m0 + rows).
template <typename T>
__device__ void fill(const Task<T>& task, int m0, int rows) {
  const int width = task.fill_to - task.fill_from;
  for (int i = static_cast<int>(threadIdx.x); i < rows * width; i += static_cast<int>(blockDim.x)) {
    const int row = m0 + i / width, column = i % width;
    if (row < task.rows) {
      task.out[row * task.stride + task.fill_from + column] = from_float<T>(column < task.ones ? 1.0f : 0.0f);
    }
  }
}

template <typename T>
__device__ int group_of(const Task<T>& task, int tile) {
  int chosen = 0;
  while (chosen + 1 < task.groups && tile >= task.group[chosen + 1].first_tile) ++chosen;
  return chosen;
}

template <class Tile, typename T>
__global__ void __launch_bounds__(Tile::threads) shrink_kernel(const __grid_constant__ Task<T> task) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, tile = static_cast<int>(blockIdx.x);
  if (tile == 0) fill(task, m0, Tile::m);
  if (task.groups == 0) return;
  const Group<T>& group = task.group[group_of(task, tile)];
  const int n0 = (tile - group.first_tile) * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, group.left, m0, group.right, n0, group.left.columns, shared);
  if (Tile::warp_k() != 0) return;
#pragma unroll
  for (int i = 0; i < Tile::m_tiles; ++i)
#pragma unroll
    for (int j = 0; j < Tile::n_tiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        const int row = m0 + Tile::row(i, e / 2), column = n0 + Tile::column(j) + e % 2;
        if (row < task.rows && column < group.right.rows)
          store(task, row, group.column + column, sums[i][j][e]);
      }
}

__global__ void __launch_bounds__(256) shrink_f32_kernel(const __grid_constant__ Task<float> task) {
  using Tile = FloatTile<false, false>;
  __shared__ __align__(16) unsigned char shared[Tile::shared_bytes];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, tile = static_cast<int>(blockIdx.x);
  if (tile == 0) fill(task, m0, Tile::m);
  if (task.groups == 0) return;
  const Group<float>& group = task.group[group_of(task, tile)];
  const int n0 = (tile - group.first_tile) * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, group.left, m0, group.right, n0, group.left.columns, shared);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const int row = m0 + Tile::row(i), column = n0 + Tile::column(j);
      if (row < task.rows && column < group.right.rows) store(task, row, group.column + column, sums[i][j]);
    }
}

/// The task for tiles of `tile_n` columns; `tiles` gets their number.
template <typename T>
Task<T> task_of(const Shrink& work, int tile_n, unsigned& tiles) {
  check(work.groups.size() <= most_shrink_groups && work.copies.size() <= most_shrink_copies, "shrink",
        "too many branches");
  Task<T> task;
  int next = 0;
  for (const ShrinkGroup& from : work.groups) {
    Group<T>& group = task.group[task.groups++];
    group.left = Matrix<T>(from.left);
    group.right = Matrix<T>(from.right);
    group.column = static_cast<int>(from.column);
    group.first_tile = next;
    next += (group.right.rows + tile_n - 1) / tile_n;
    task.fill_from = group.column + group.right.rows;
  }
  for (const ShrinkCopy& from : work.copies) {
    task.copy[task.copies++] = {from.to.as<T>(), from.to.stride(), static_cast<int>(from.column),
                                static_cast<int>(from.to.columns())};
  }
  task.rows = static_cast<int>(work.out.rows());
  task.out = work.out.as<T>();
  task.stride = work.out.stride();
  task.fill_to = static_cast<int>(work.out.columns());
  task.ones = static_cast<int>(work.ones);
  task.scale = work.scale;
  task.out_scale = work.out_scale;
  tiles = next > 0 ? static_cast<unsigned>(next) : 1;
  return task;
}

dim3 grid_of(unsigned tiles, std::int64_t rows, int tile_m) {
  return {tiles, static_cast<unsigned>((rows + tile_m - 1) / tile_m)};
}

template <class Tile, typename T>
void launch_tile(CudaBackend& backend, const Shrink& work) {
  unsigned tiles = 0;
  const Task<T> task = task_of<T>(work, Tile::n, tiles);
  launch(backend.stream(), "shrink_kernel", shrink_kernel<Tile, T>, grid_of(tiles, work.out.rows(), Tile::m),
         dim3(Tile::threads), Tile::shared_bytes, task);
}

template <typename T>
void choose_tile(CudaBackend& backend, const Shrink& work) {
  std::int64_t widest = 0;
  for (const ShrinkGroup& group : work.groups) widest = std::max(widest, group.right.rows());
  // Blocks of 16 rows, whose warps share out k, where blocks of 64 would leave multiprocessors idle.
  if (work.out.rows() >= 48 * static_cast<std::int64_t>(backend.multiprocessors())) {
    if (widest <= 32) return launch_tile<TensorTile<64, 32, 64, 4, 1, 1, 3, false, false>, T>(backend, work);
    if (widest <= 64) return launch_tile<TensorTile<64, 64, 64, 4, 1, 1, 3, false, false>, T>(backend, work);
    return launch_tile<TensorTile<64, 128, 32, 4, 1, 1, 4, false, false>, T>(backend, work);
  }
  if (widest <= 32) return launch_tile<TensorTile<16, 32, 64, 1, 1, 4, 3, false, false>, T>(backend, work);
  if (widest <= 64) return launch_tile<TensorTile<16, 64, 64, 1, 1, 4, 3, false, false>, T>(backend, work);
  launch_tile<TensorTile<16, 128, 64, 1, 1, 4, 3, false, false>, T>(backend, work);
}

}  // namespace

void shrink(CudaBackend& backend, const Shrink& work) {
  if (work.out.elements() == 0) return;
  if (work.out.dtype == DType::bf16) return choose_tile<bf16>(backend, work);
  if (work.out.dtype == DType::f16) return choose_tile<f16>(backend, work);
  unsigned tiles = 0;
  const Task<float> task = task_of<float>(work, FloatTile<false, false>::n, tiles);
  launch(backend.stream(), "shrink_f32_kernel", shrink_f32_kernel,
         grid_of(tiles, work.out.rows(), FloatTile<false, false>::m), dim3(256), 0, task);
}

}  // namespace lorikeet::cuda
