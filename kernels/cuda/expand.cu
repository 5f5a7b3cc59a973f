// SPDX-License-Identifier: Apache-2.0
// out (M,K) = [before +] sum over branches of mask * (u (M,r) A (r,K)): what the input of a linear group gets
// of the gradients of branches with dropout. Contract: low_rank.h; operands of one compute type, rows with
// gaps; out may be `before`. Accumulator: f32 for each branch, masked, added in the order of the branches,
// rounded once. Bytes: u and A per tile, before and out once. Source: LoRA (Hu et al. 2021) with dropout as
// in PEFT; tiles as in gemm_tensor.cu, masks by random.cuh.
#include "kernels/base/random.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/float_tile.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/low_rank.h"
#include "kernels/cuda/random.cuh"
#include "kernels/cuda/tile.cuh"

namespace lorikeet::cuda {
namespace {

constexpr auto dropout_use = static_cast<std::uint32_t>(RandomUse::dropout);

template <typename T>
struct Term {
  Matrix<T> u, a;
  const uint2* keys = nullptr;  ///< null: no dropout
  std::uint32_t place = 0, threshold = 0;
};
template <typename T>
struct Task {
  Term<T> term[most_expand_terms];
  int terms = 0, rows = 0, columns = 0;
  T* out = nullptr;
  std::int64_t stride = 0;
  const T* before = nullptr;
  std::int64_t before_stride = 0;
};

template <typename T>
__device__ __forceinline__ void store(const Task<T>& task, int row, int column, float sum) {
  if (row >= task.rows || column >= task.columns) return;
  if (task.before) sum += to_float(task.before[row * task.before_stride + column]);
  task.out[row * task.stride + column] = from_float<T>(sum);
}

/// Adds the sums of one row's tiles j and j + 1 to the total, without what is left out. Neighbouring lanes
/// share four columns of each tile, and so a counter: the even one draws for tile j, the odd one for tile j
/// + 1.
__device__ __forceinline__ void add_pair(float (&total)[2][2], const float (&sum)[2][2], uint2 key,
                                         std::uint32_t place, std::uint32_t threshold, int column) {
  const bool odd = threadIdx.x % 2 != 0;
  const auto group = static_cast<std::uint32_t>((column + (odd ? 8 : 0)) / 4);
  const Words own = drawn_words(key, dropout_use, place, group);
  const std::uint32_t other_0 = __shfl_xor_sync(full_warp, odd ? own.value[0] : own.value[2], 1);
  const std::uint32_t other_1 = __shfl_xor_sync(full_warp, odd ? own.value[1] : own.value[3], 1);
  const std::uint32_t words[2][2] = {{odd ? other_0 : own.value[0], odd ? other_1 : own.value[1]},
                                     {odd ? own.value[2] : other_0, odd ? own.value[3] : other_1}};
#pragma unroll
  for (int j = 0; j < 2; ++j)
#pragma unroll
    for (int e = 0; e < 2; ++e) total[j][e] += words[j][e] < threshold ? 0.0f : sum[j][e];
}

template <class Tile, typename T>
__global__ void __launch_bounds__(Tile::threads) expand_kernel(const __grid_constant__ Task<T> task) {
  extern __shared__ __align__(16) unsigned char shared[];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, n0 = static_cast<int>(blockIdx.x) * Tile::n;
  float total[Tile::m_tiles][2][Tile::n_tiles / 2][2][2] = {};
  for (int t = 0; t < task.terms; ++t) {
    const Term<T>& term = task.term[t];
    typename Tile::Sums sums;
    if (t > 0) __syncthreads();  // the last term's operands have been read
    Tile::run(sums, term.u, m0, term.a, n0, term.a.rows, shared);
#pragma unroll
    for (int i = 0; i < Tile::m_tiles; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int row = min(m0 + Tile::row(i, h), task.rows - 1);
        const uint2 key = term.keys ? term.keys[row] : make_uint2(0, 0);
#pragma unroll
        for (int j = 0; j < Tile::n_tiles; j += 2) {
          const float sum[2][2] = {{sums[i][j][2 * h], sums[i][j][2 * h + 1]},
                                   {sums[i][j + 1][2 * h], sums[i][j + 1][2 * h + 1]}};
          add_pair(total[i][h][j / 2], sum, key, term.place, term.threshold, n0 + Tile::column(j));
        }
      }
  }
#pragma unroll
  for (int i = 0; i < Tile::m_tiles; ++i)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int j = 0; j < Tile::n_tiles; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e)
          store(task, m0 + Tile::row(i, h), n0 + Tile::column(j) + e, total[i][h][j / 2][j % 2][e]);
}

__global__ void __launch_bounds__(256) expand_f32_kernel(const __grid_constant__ Task<float> task) {
  using Tile = FloatTile<false, true>;
  __shared__ __align__(16) unsigned char shared[Tile::shared_bytes];
  const int m0 = static_cast<int>(blockIdx.y) * Tile::m, n0 = static_cast<int>(blockIdx.x) * Tile::n;
  float total[4][4] = {};
  for (int t = 0; t < task.terms; ++t) {
    const Term<float>& term = task.term[t];
    typename Tile::Sums sums;
    Tile::run(sums, term.u, m0, term.a, n0, term.a.rows, shared);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = min(m0 + Tile::row(i), task.rows - 1);
      const uint2 key = term.keys ? term.keys[row] : make_uint2(0, 0);
      const auto group = static_cast<std::uint32_t>((n0 + Tile::column(0)) / 4);
      const Words words = drawn_words(key, dropout_use, term.place, group);
#pragma unroll
      for (int j = 0; j < 4; ++j) total[i][j] += words.value[j] < term.threshold ? 0.0f : sums[i][j];
    }
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) store(task, m0 + Tile::row(i), n0 + Tile::column(j), total[i][j]);
}

template <typename T>
void launch_terms(CudaBackend& backend, std::span<const ExpandTerm> terms, TensorView before,
                  TensorView out) {
  Task<T> task;
  for (const ExpandTerm& from : terms) {
    Term<T>& term = task.term[task.terms++];
    term.u = Matrix<T>(from.u);
    term.a = Matrix<T>(from.a);
    if (from.dropout.probability == 0) continue;
    term.keys = static_cast<const uint2*>(from.dropout.keys.data);
    term.place = from.dropout.place;
    term.threshold = dropout_threshold(from.dropout.probability);
  }
  task.rows = static_cast<int>(out.rows());
  task.columns = static_cast<int>(out.columns());
  task.out = out.as<T>();
  task.stride = out.stride();
  if (before) {
    task.before = before.as<const T>();
    task.before_stride = before.stride();
  }
  const dim3 grid(static_cast<unsigned>((task.columns + 63) / 64),
                  static_cast<unsigned>((task.rows + 63) / 64));
  if constexpr (sizeof(T) == 4) {
    launch(backend.stream(), "expand_f32_kernel", expand_f32_kernel, grid, dim3(256), 0, task);
  } else {
    using Tile = TensorTile<64, 64, 32, 2, 2, 1, 3, false, true>;
    launch(backend.stream(), "expand_kernel", expand_kernel<Tile, T>, grid, dim3(Tile::threads),
           Tile::shared_bytes, task);
  }
}

}  // namespace

void expand(CudaBackend& backend, std::span<const ExpandTerm> terms, TensorView before, TensorView out) {
  while (!terms.empty() && out.elements() > 0) {
    const std::size_t count = std::min(terms.size(), most_expand_terms);
    with_compute_type(out.dtype, [&](auto type) {
      launch_terms<typename decltype(type)::type>(backend, terms.first(count), before, out);
    });
    before = out;
    terms = terms.subspan(count);
  }
}

}  // namespace lorikeet::cuda
