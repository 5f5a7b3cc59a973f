// SPDX-License-Identifier: Apache-2.0
// Gradients of low-rank factors, all of a linear group in one launch:
//   dA (r,K) += u^T x,   dB (N,r) += scale * dY^T (x A^T),   sums over the M rows.
// Contract: low_rank.h; 16-bit or f32 operands of any strides, f32 gradients.
// Accumulator: f32 in registers; the 8 warps of a block each take every eighth 16 rows and are added in a
// fixed order, so nothing is summed by atomics and a run repeats bit for bit. Bytes: x and dY once, u and x
// A^T once, the gradients read and written: 2T(K+N) + 4Tr + 8r(K+N). Source: LoRA (Hu et al. 2021); tiles of
// 32 columns give one block per multiprocessor from K + N = 4224 on.
#include <algorithm>

#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/float_tile.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/low_rank.h"
#include "kernels/cuda/tile.cuh"

namespace lorikeet::cuda {
namespace {

template <int Ranks, int Stages>
using GradientTile = TensorTile<Ranks, 32, 128, 1, 1, 8, Stages, true, true>;

constexpr int most_pieces = 32;
constexpr std::int64_t piece_ranks = 64;

/// Up to 64 ranks of one factor.
template <typename T>
struct Piece {
  Matrix<T> narrow, wide;
  float* gradient = nullptr;
  std::int64_t rank_step = 0, column_step = 0;
  float scale = 1;
  int first_block = 0;  ///< of the pieces with the same `wide`, which share blocks out in turn
  int index = 0, pieces = 1;
};
template <typename T>
struct Task {
  Piece<T> piece[most_pieces];
  int pieces = 0;
};
static_assert(sizeof(Task<float>) <= 4000, "kernel parameters are at most 4 KiB");

/// The piece and its column tile of a block. Neighbouring blocks read the same columns of `wide`.
template <typename T>
__device__ const Piece<T>& piece_of(const Task<T>& task, int block, int& column_tile) {
  int chosen = 0;
  while (chosen + task.piece[chosen].pieces < task.pieces &&
         block >= task.piece[chosen + task.piece[chosen].pieces].first_block) {
    chosen += task.piece[chosen].pieces;
  }
  const int at = block - task.piece[chosen].first_block, pieces = task.piece[chosen].pieces;
  column_tile = at / pieces;
  return task.piece[chosen + at % pieces];
}

template <typename T>
__device__ void add(const Piece<T>& piece, int rank, int column, float sum) {
  if (rank >= piece.narrow.columns || column >= piece.wide.columns) return;
  piece.gradient[rank * piece.rank_step + column * piece.column_step] += piece.scale * sum;
}

template <class Tile, typename T>
__global__ void __launch_bounds__(Tile::threads)
    factor_gradient_kernel(const __grid_constant__ Task<T> task) {
  extern __shared__ __align__(16) unsigned char shared[];
  int column_tile = 0;
  const Piece<T>& piece = piece_of(task, static_cast<int>(blockIdx.x), column_tile);
  const int n0 = column_tile * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, piece.narrow, 0, piece.wide, n0, piece.wide.rows, shared);
  if (Tile::warp_k() != 0) return;
#pragma unroll
  for (int i = 0; i < Tile::m_tiles; ++i)
#pragma unroll
    for (int j = 0; j < Tile::n_tiles; ++j)
#pragma unroll
      for (int e = 0; e < 4; ++e)
        add(piece, Tile::row(i, e / 2), n0 + Tile::column(j) + e % 2, sums[i][j][e]);
}

__global__ void __launch_bounds__(256) factor_gradient_f32_kernel(const __grid_constant__ Task<float> task) {
  using Tile = FloatTile<true, true>;
  __shared__ __align__(16) unsigned char shared[Tile::shared_bytes];
  int column_tile = 0;
  const Piece<float>& piece = piece_of(task, static_cast<int>(blockIdx.x), column_tile);
  const int n0 = column_tile * Tile::n;
  typename Tile::Sums sums;
  Tile::run(sums, piece.narrow, 0, piece.wide, n0, piece.wide.rows, shared);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) add(piece, Tile::row(i), n0 + Tile::column(j), sums[i][j]);
}

/// Collects pieces of up to `Ranks` ranks and launches them.
template <typename T>
class Launcher {
 public:
  Launcher(CudaBackend& backend, std::int64_t ranks, int tile_columns)
      : backend_(backend), ranks_(ranks), tile_columns_(tile_columns) {}

  void add(const FactorGradientTask& from) {
    const bool shared = from.wide.data == wide_;
    for (std::int64_t first = 0; first < from.narrow.columns(); first += ranks_) {
      if (task_.pieces == most_pieces) finish();
      const std::int64_t count = std::min(ranks_, from.narrow.columns() - first);
      Piece<T>& piece = task_.piece[task_.pieces];
      piece.narrow = Matrix<T>(from.narrow.column_range(first, count));
      piece.wide = Matrix<T>(from.wide);
      piece.scale = from.scale;
      piece.rank_step = from.transposed ? 1 : from.gradient.columns();
      piece.column_step = from.transposed ? from.gradient.columns() : 1;
      piece.gradient = from.gradient.as<float>() + first * piece.rank_step;
      place((shared || first > 0) && task_.pieces > family_);
    }
    wide_ = from.wide.data;
  }

  void finish() {
    if (task_.pieces == 0) return;
    launch_pieces();
    task_.pieces = family_ = 0;
    blocks_ = 0;
    wide_ = nullptr;
  }

 private:
  /// Gives the new piece its blocks, as one more of the family with the same `wide` or as the first of its
  /// own.
  void place(bool joins) {
    if (!joins) family_ = task_.pieces;
    const int size = task_.pieces - family_ + 1;
    const int tiles = (task_.piece[family_].wide.columns + tile_columns_ - 1) / tile_columns_;
    const int first_block = joins ? task_.piece[family_].first_block : blocks_;
    for (int i = 0; i < size; ++i) {
      task_.piece[family_ + i].first_block = first_block;
      task_.piece[family_ + i].pieces = size;
    }
    blocks_ = first_block + size * tiles;
    ++task_.pieces;
  }
  void launch_pieces();
  template <class Tile>
  void launch_tile() {
    launch(backend_.stream(), "factor_gradient_kernel", factor_gradient_kernel<Tile, T>,
           dim3(static_cast<unsigned>(blocks_)), dim3(Tile::threads), Tile::shared_bytes, task_);
  }

  CudaBackend& backend_;
  const std::int64_t ranks_;
  const int tile_columns_;
  Task<T> task_;
  int family_ = 0, blocks_ = 0;
  const void* wide_ = nullptr;
};

template <typename T>
void Launcher<T>::launch_pieces() {
  if constexpr (sizeof(T) == 4) {
    launch(backend_.stream(), "factor_gradient_f32_kernel", factor_gradient_f32_kernel,
           dim3(static_cast<unsigned>(blocks_)), dim3(256), 0, task_);
  } else {
    if (ranks_ <= 16) return launch_tile<GradientTile<16, 3>>();
    if (ranks_ <= 32) return launch_tile<GradientTile<32, 3>>();
    launch_tile<GradientTile<64, 2>>();
  }
}

template <typename T>
void add_all(CudaBackend& backend, std::span<const FactorGradientTask> tasks) {
  std::int64_t ranks = 16;
  for (const FactorGradientTask& task : tasks) {
    while (ranks < piece_ranks && ranks < task.narrow.columns()) ranks *= 2;
  }
  if (sizeof(T) == 4) ranks = piece_ranks;
  Launcher<T> launcher(backend, ranks, sizeof(T) == 4 ? FloatTile<true, true>::n : GradientTile<16, 3>::n);
  for (const FactorGradientTask& task : tasks) launcher.add(task);
  launcher.finish();
}

}  // namespace

void add_factor_gradients(CudaBackend& backend, std::span<const FactorGradientTask> tasks) {
  if (tasks.empty() || tasks.front().wide.rows() == 0) return;
  const DType compute = tasks.front().wide.dtype;
  if (compute == DType::bf16) return add_all<bf16>(backend, tasks);
  if (compute == DType::f16) return add_all<f16>(backend, tasks);
  add_all<float>(backend, tasks);
}

}  // namespace lorikeet::cuda
