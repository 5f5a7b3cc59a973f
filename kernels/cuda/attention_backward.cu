// SPDX-License-Identifier: Apache-2.0
// Gradients of causal attention: p = exp(s - lse) again from lse, dp = dout v^T, delta = rowsum(dout * out),
// ds = p (dp - delta), times 1 - tanh^2 of the capped score with a soft cap; dq = scale ds k,
// dk = scale ds^T q, dv = p^T dout (Dao et al. 2022, "FlashAttention", algorithm 4).
// Two launches, no atomics:
// 1. dq: a block has a tile of packed rows (attention.cuh) and goes over the keys; leaves lse and delta of
//    each row.
// 2. dk, dv: a block has a tile of keys and goes over the packed rows that see them, so over all query heads
//    of the group, in order. Above head_dim 128 one block makes dk and another dv, each with half of the sums.
// Both keep their own two tiles (64 rows, 32 above head_dim 128) and get the other two (32 or 16 rows) in two
// stages: at most 64 KiB of shared memory. Products of 16-bit types: p and ds are rounded to the compute
// type. Accumulates in f32. f32 (attention_gradients_single.cuh): own 16 rows, others 8.
// Bytes at least: 1: q, dout, out, dq, k, v: 2 T (4 q + 2 kv) + 12 T heads;
// 2: q, dout, k, v, dk, dv: 2 T (2 q + 4 kv) + 8 T heads;
// flops 14 head_dim heads T S / 2 (16 above 128) for sequences of S.
#include "kernels/checks.h"
#include "kernels/cuda/attention_gradients.cuh"
#include "kernels/cuda/attention_gradients_single.cuh"
#include "kernels/cuda/attention_rows.h"
#include "kernels/cuda/attention_tiles.cuh"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

/// Tiles of head size D: own rows, rows of the others, threads of a block. Keys: of the kernel that makes dk
/// and dv.
template <int D, bool Keys>
struct Tiles {
  static constexpr int own = D <= 128 ? 64 : 32;
  static constexpr int other = D <= (Keys ? 96 : 128) ? 32 : 16;
  static constexpr int threads = own / 16 * 32;
  static constexpr int blocks = D <= 128 ? 2 : 4;  ///< of a multiprocessor, by registers
  static constexpr int shared = (2 * own + 4 * other) * D * 2;
};

/// The same of a tile of N others; row(i, e) and seen(i, e) tell of element e of fragment i. `whole`: all are
/// seen.
template <int N, typename Row, typename Seen>
__device__ __forceinline__ void soften_tile(float (&s)[N / 8][4], float (&dp)[N / 8][4], const Row& row,
                                            const Seen& seen, bool whole, const AttentionNumbers& n) {
  if (n.cap > 0) {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) soften<true>(s[i / 4][i % 4], dp[i / 4][i % 4], row(i / 4, i % 4), n);
  } else {
#pragma unroll
    for (int i = 0; i < N / 2; ++i) soften<false>(s[i / 4][i % 4], dp[i / 4][i % 4], row(i / 4, i % 4), n);
  }
  if (whole) return;
#pragma unroll
  for (int i = 0; i < N / 2; ++i) {
    if (!seen(i / 4, i % 4)) s[i / 4][i % 4] = dp[i / 4][i % 4] = 0;
  }
}

/// Statistics of the warp's 16 rows, two lanes a row: kept for the second launch, and given to each thread
/// for its two rows. dout lies in the tile.
template <int D, typename T>
__device__ __forceinline__ void row_statistics(float2 (&mine)[2], const T* dout, int row,
                                               const GradientWork& w, const GradientArguments& a) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int r = w.first_own + row + lane / 2;
  float2 statistics{no_row, 0};
  if (r < w.rows) {
    const auto out = query_rows(static_cast<const T*>(a.out), a.out_stride, w.begin, w.kv_head, a.n);
    const T* from = out.row(r);
    for (int chunk = lane % 2; chunk * 8 < a.n.head_dim; chunk += 2) {
      const T* left = dout + chunk_at<D>(row + lane / 2, chunk);
      if (a.n.vectors) {
        const uint4 words = *reinterpret_cast<const uint4*>(from + chunk * 8);
        const T* right = reinterpret_cast<const T*>(&words);
#pragma unroll
        for (int e = 0; e < 8; ++e) statistics.y += to_float(left[e]) * to_float(right[e]);
      } else {
        for (int e = 0; e < 8 && chunk * 8 + e < a.n.head_dim; ++e)
          statistics.y += to_float(left[e]) * to_float(from[chunk * 8 + e]);
      }
    }
    statistics.x = row_lse(a, w, r);
  }
  statistics.y += __shfl_xor_sync(full_warp, statistics.y, 1);
  if (lane % 2 == 0 && r < w.rows) w.statistics[r] = statistics;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int from = (lane / 4 + 8 * half) * 2;
    mine[half].x = __shfl_sync(full_warp, statistics.x, from);
    mine[half].y = __shfl_sync(full_warp, statistics.y, from);
  }
}

template <int N>
__device__ __forceinline__ void clear(float (&sums)[N][4]) {
#pragma unroll
  for (int i = 0; i < N; ++i) sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = 0;
}

template <typename T, int D>
__global__ void __launch_bounds__(Tiles<D, false>::threads, Tiles<D, false>::blocks)
    query_gradients(const GradientArguments a) {
  constexpr int own = Tiles<D, false>::own, other = Tiles<D, false>::other,
                threads = Tiles<D, false>::threads;
  extern __shared__ __align__(128) unsigned char shared[];
  T* const q_tile = reinterpret_cast<T*>(shared);
  T* const dout_tile = q_tile + own * D;
  T* const stages = dout_tile + own * D;  // keys and values, twice
  const GradientWork w = work_of_block<own, other, false>(a);
  if (w.first_own >= w.rows) return;
  const auto k = key_rows(static_cast<const T*>(a.k), a.k_stride, w.begin, w.kv_head, a.n);
  const auto v = key_rows(static_cast<const T*>(a.v), a.v_stride, w.begin, w.kv_head, a.n);
  const auto q = query_rows(static_cast<const T*>(a.q), a.q_stride, w.begin, w.kv_head, a.n);
  const auto dout = query_rows(static_cast<const T*>(a.dout), a.dout_stride, w.begin, w.kv_head, a.n);
  const auto load_keys = [&](T* stage, int key) {
    load_tile<D, other, threads>(stage, k, key, w.length, a.n);
    load_tile<D, other, threads>(stage + other * D, v, key, w.length, a.n);
    cp_async_commit();
  };
  load_tile<D, own, threads>(q_tile, q, w.first_own, w.rows, a.n);
  load_tile<D, own, threads>(dout_tile, dout, w.first_own, w.rows, a.n);
  load_keys(stages, w.first);
  const int row = static_cast<int>(threadIdx.x / 32) * 16;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first_query = quotient(w.first_own + row, a.n.group);
  const int last_query = quotient(w.first_own + row + 15, a.n.group);
  const int query[2] = {quotient(w.first_own + row + lane / 4, a.n.group),
                        quotient(w.first_own + row + lane / 4 + 8, a.n.group)};
  cp_async_wait<0>();
  __syncthreads();
  float2 statistics[2];
  row_statistics<D>(statistics, dout_tile, row, w, a);
  float sums[D / 8][4];
  clear(sums);
  int stage = 0;
  for (int key = w.first; key < w.end; key += other, stage ^= 1) {
    const T* const k_tile = stages + stage * 2 * other * D;
    if (key + other < w.end) load_keys(stages + (stage ^ 1) * 2 * other * D, key + other);
    if (key <= last_query && (a.n.window == 0 || first_query - (key + other - 1) < a.n.window)) {
      float s[other / 8][4], dp[other / 8][4];
      multiply_rows<D, other>(s, q_tile, row, k_tile);
      multiply_rows<D, other>(dp, dout_tile, row, k_tile + other * D);
      const bool whole = all_see(first_query, last_query, key, key + other - 1, a.n.window);
      const auto seen = [&](int i, int e) {
        return sees(query[e / 2], key + i * 8 + lane % 4 * 2 + e % 2, a.n.window);
      };
      soften_tile<other>(
          s, dp, [&](int, int e) { return statistics[e / 2]; }, seen, whole, a.n);
      accumulate_rows<D, other>(sums, dp, k_tile);
    }
    cp_async_wait<0>();
    __syncthreads();  // the next keys are there, these no longer read
  }
  const auto dq = query_rows(static_cast<T*>(a.dq), a.dq_stride, w.begin, w.kv_head, a.n);
  store_rows<D>(sums, {a.n.scale, a.n.scale}, q_tile, row, dq, w.first_own + row, w.rows, a.n);
}

/// Those of the rows [first, first + Other) in the order of a fragment's columns.
template <int Other>
__device__ __forceinline__ void load_statistics(float2 (&to)[Other / 8][2], const GradientWork& w,
                                                int first) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int i = 0; i < Other / 4; ++i) {
    const int r = first + i / 2 * 8 + lane % 4 * 2 + i % 2;
    to[i / 2][i % 2] = r < w.rows ? w.statistics[r] : make_float2(no_row, 0);
  }
}

/// scale * sums of the warp's 16 keys, which begin at `row` of the block's; `tile` is working room.
template <int D, typename T>
__device__ __forceinline__ void store_keys(const float (&sums)[D / 8][4], float scale, T* tile, T* to,
                                           std::int64_t stride, int row, const GradientWork& w,
                                           const AttentionNumbers& n) {
  const auto keys = key_rows(to, stride, w.begin, w.kv_head, n);
  store_rows<D>(sums, {scale, scale}, tile, row, keys, w.first_own + row, w.length, n);
}

/// dk or dv of the block's keys, or both.
template <typename T, int D, bool MakeK, bool MakeV>
__device__ __forceinline__ void key_gradients_of_block(const GradientArguments& a, T* k_tile) {
  constexpr int own = Tiles<D, true>::own, other = Tiles<D, true>::other, threads = Tiles<D, true>::threads;
  T* const v_tile = k_tile + own * D;
  T* const stages = v_tile + own * D;  // q and dout, twice
  const GradientWork w = work_of_block<own, other, true>(a);
  if (w.first_own >= w.length) return;
  const auto k = key_rows(static_cast<const T*>(a.k), a.k_stride, w.begin, w.kv_head, a.n);
  const auto v = key_rows(static_cast<const T*>(a.v), a.v_stride, w.begin, w.kv_head, a.n);
  const auto q = query_rows(static_cast<const T*>(a.q), a.q_stride, w.begin, w.kv_head, a.n);
  const auto dout = query_rows(static_cast<const T*>(a.dout), a.dout_stride, w.begin, w.kv_head, a.n);
  const auto load_queries = [&](T* stage, int first) {
    load_tile<D, other, threads>(stage, q, first, w.rows, a.n);
    load_tile<D, other, threads>(stage + other * D, dout, first, w.rows, a.n);
    cp_async_commit();
  };
  load_tile<D, own, threads>(k_tile, k, w.first_own, w.length, a.n);
  if constexpr (MakeK) load_tile<D, own, threads>(v_tile, v, w.first_own, w.length, a.n);
  load_queries(stages, w.first);
  const int row = static_cast<int>(threadIdx.x / 32) * 16;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first_key = w.first_own + row;
  float dk[D / 8][4], dv[D / 8][4];
  clear(dk);
  clear(dv);
  int stage = 0;
  cp_async_wait<0>();
  __syncthreads();
  for (int first = w.first; first < w.end; first += other, stage ^= 1) {
    const T* const q_tile = stages + stage * 2 * other * D;
    if (first + other < w.end) load_queries(stages + (stage ^ 1) * 2 * other * D, first + other);
    const int first_query = quotient(first, a.n.group);
    const int last_query = quotient(min(first + other, w.rows) - 1, a.n.group);
    if (first_key <= last_query && (a.n.window == 0 || first_query - (first_key + 15) < a.n.window)) {
      float2 statistics[other / 8][2];
      load_statistics<other>(statistics, w, first);
      float s[other / 8][4], dp[other / 8][4];
      multiply_rows<D, other>(s, k_tile, row, q_tile);
      if constexpr (MakeK) {
        multiply_rows<D, other>(dp, v_tile, row, q_tile + other * D);
      } else {
        clear(dp);
      }
      const bool whole = all_see(first_query, last_query, first_key, first_key + 15, a.n.window);
      const auto seen = [&](int i, int e) {
        const int r = first + i * 8 + lane % 4 * 2 + e % 2;
        return sees(quotient(r, a.n.group), first_key + lane / 4 + e / 2 * 8, a.n.window);
      };
      soften_tile<other>(
          s, dp, [&](int i, int e) { return statistics[i][e % 2]; }, seen, whole, a.n);
      if constexpr (MakeV) accumulate_rows<D, other>(dv, s, q_tile + other * D);
      if constexpr (MakeK) accumulate_rows<D, other>(dk, dp, q_tile);
    }
    cp_async_wait<0>();
    __syncthreads();  // the next rows are there, these no longer read
  }
  if constexpr (MakeK) store_keys<D>(dk, a.n.scale, k_tile, static_cast<T*>(a.dk), a.dk_stride, row, w, a.n);
  if constexpr (MakeV) store_keys<D>(dv, 1, v_tile, static_cast<T*>(a.dv), a.dv_stride, row, w, a.n);
}

template <typename T, int D>
__global__ void __launch_bounds__(Tiles<D, true>::threads, Tiles<D, true>::blocks)
    key_gradients(const GradientArguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  T* const tiles = reinterpret_cast<T*>(shared);
  if constexpr (D <= 128) {
    key_gradients_of_block<T, D, true, true>(a, tiles);
  } else if (blockIdx.y == 0) {
    key_gradients_of_block<T, D, true, false>(a, tiles);
  } else {
    key_gradients_of_block<T, D, false, true>(a, tiles);
  }
}

constexpr const char* name = "attention_backward";

dim3 grid_for(const GradientArguments& a, int tile_rows, std::int64_t group, unsigned parts) {
  return {static_cast<unsigned>(slots_for(a.tokens, a.sequences, group, tile_rows) * a.n.kv_heads), parts};
}

template <typename T>
void launch_tiles(CudaBackend& backend, const GradientArguments& a) {
  with_tile_width(a.n.head_dim, [&](auto width) {
    using Queries = Tiles<width(), false>;
    using Keys = Tiles<width(), true>;
    launch(backend.stream(), name, query_gradients<T, width()>, grid_for(a, Queries::own, a.n.group.value, 1),
           Queries::threads, Queries::shared, a);
    launch(backend.stream(), name, key_gradients<T, width()>,
           grid_for(a, Keys::own, 1, width() <= 128 ? 1 : 2), Keys::threads, Keys::shared, a);
  });
}

void launch_single(CudaBackend& backend, const GradientArguments& a) {
  const int shared = single_shared(a.n.head_dim);
  launch(backend.stream(), name, gradients_single<false>, grid_for(a, single_own, a.n.group.value, 1),
         single_threads, shared, a);
  launch(backend.stream(), name, gradients_single<true>, grid_for(a, single_own, 1, 1), single_threads,
         shared, a);
}

}  // namespace

void CudaBackend::attention_backward(TensorView dout, TensorView q, TensorView k, TensorView v,
                                     TensorView out, TensorView lse, const PackedRows& rows,
                                     const AttentionShape& shape, TensorView dq, TensorView dk,
                                     TensorView dv) {
  check_attention_rows(*this, q, k, v, shape, name);
  check(k.shape[0] == q.shape[0], name, "q and k have different rows");
  check_rows(out, q.dtype, q.shape, name, "out");
  check_rows(dout, q.dtype, q.shape, name, "dout");
  check_rows(dq, q.dtype, q.shape, name, "dq");
  check_rows(dk, q.dtype, k.shape, name, "dk");
  check_rows(dv, q.dtype, k.shape, name, "dv");
  check_tensor(lse, DType::f32, {q.shape[0], shape.heads}, name, "lse");
  check_packed_rows(rows, q.shape[0], shape, name);
  const std::int64_t tokens = q.shape[0];
  if (tokens == 0) return;
  const GradientArguments a{
      dout.data,
      q.data,
      k.data,
      v.data,
      out.data,
      dq.data,
      dk.data,
      dv.data,
      dout.stride(),
      q.stride(),
      k.stride(),
      v.stride(),
      out.stride(),
      dq.stride(),
      dk.stride(),
      dv.stride(),
      lse.as<float>(),
      static_cast<float2*>(scratch().get(tokens * shape.heads * static_cast<std::int64_t>(sizeof(float2)))),
      AttentionNumbers(shape, rows_in_vectors({dout, q, k, v, out, dq, dk, dv}, shape.head_dim)),
      rows.cu_seqlens.as<std::int32_t>(),
      static_cast<int>(rows.sequences),
      static_cast<int>(tokens)};
  if (q.dtype == DType::f32) return launch_single(*this, a);
  if (q.dtype == DType::bf16) return launch_tiles<bf16>(*this, a);
  launch_tiles<f16>(*this, a);
}

}  // namespace lorikeet::cuda
