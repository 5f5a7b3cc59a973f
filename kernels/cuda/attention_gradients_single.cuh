// SPDX-License-Identifier: Apache-2.0
// Gradients of attention in f32 by exact products (attention_backward.cu). A thread has one pair of an own
// row and another row, then columns of the own row's sums.
#pragma once

#include "kernels/cuda/attention_gradients.cuh"
#include "kernels/cuda/attention_single.cuh"

namespace lorikeet::cuda {

constexpr int single_own = 16, single_other = 8, single_threads = 128;
constexpr int single_shared(int head_dim) {
  return (2 * (single_own + single_other) * single_pitch(head_dim) + 2 * single_own * single_other) * 4;
}

/// lse and delta of packed row r by its eight threads; kept for the second launch.
template <typename Rows>
__device__ __forceinline__ float2 single_statistics(const GradientArguments& a, const GradientWork& w,
                                                    const Rows& dout, int r) {
  const int place = static_cast<int>(threadIdx.x % 8);
  float2 statistics{no_row, 0};
  if (r < w.rows) {
    const auto out = query_rows(static_cast<const float*>(a.out), a.out_stride, w.begin, w.kv_head, a.n);
    for (int c = place; c < a.n.head_dim; c += 8) statistics.y += dout.row(r)[c] * out.row(r)[c];
    statistics.x = row_lse(a, w, r);
  }
  statistics.y = eight_sum(statistics.y);
  if (place == 0 && r < w.rows) w.statistics[r] = statistics;
  return statistics;
}

/// The gradients of own row r: of dq, or of dk and dv.
template <bool Keys>
__device__ __forceinline__ void store_single(const GradientArguments& a, const GradientWork& w, int r,
                                             SingleSums& sums, const SingleSums& value_sums) {
  sums.scale(a.n.scale);
  if constexpr (Keys) {
    const auto dk = key_rows(static_cast<float*>(a.dk), a.dk_stride, w.begin, w.kv_head, a.n);
    const auto dv = key_rows(static_cast<float*>(a.dv), a.dv_stride, w.begin, w.kv_head, a.n);
    sums.store(dk.row(r), a.n.head_dim);
    value_sums.store(dv.row(r), a.n.head_dim);
  } else {
    const auto dq = query_rows(static_cast<float*>(a.dq), a.dq_stride, w.begin, w.kv_head, a.n);
    sums.store(dq.row(r), a.n.head_dim);
  }
}

template <bool Keys>
__global__ void __launch_bounds__(single_threads, 4) gradients_single(const GradientArguments a) {
  extern __shared__ __align__(128) unsigned char shared[];
  const int pitch = single_pitch(a.n.head_dim);
  const int own = static_cast<int>(threadIdx.x / 8);
  const int place = static_cast<int>(threadIdx.x % 8);
  float* const own_first = reinterpret_cast<float*>(shared);  // q or k
  float* const own_second = own_first + single_own * pitch;   // dout or v
  float* const first = own_second + single_own * pitch;       // k or q
  float* const second = first + single_other * pitch;         // v or dout
  float* const p = second + single_other * pitch + own * 2 * single_other;
  float* const ds = p + single_other;
  const GradientWork w = work_of_block<single_own, single_other, Keys>(a);
  const int own_end = Keys ? w.length : w.rows;
  const int other_end = Keys ? w.rows : w.length;
  if (w.first_own >= own_end) return;
  const auto k = key_rows(static_cast<const float*>(a.k), a.k_stride, w.begin, w.kv_head, a.n);
  const auto v = key_rows(static_cast<const float*>(a.v), a.v_stride, w.begin, w.kv_head, a.n);
  const auto q = query_rows(static_cast<const float*>(a.q), a.q_stride, w.begin, w.kv_head, a.n);
  const auto dout = query_rows(static_cast<const float*>(a.dout), a.dout_stride, w.begin, w.kv_head, a.n);
  const auto load_keys = [&](float* to_k, float* to_v, int at, int count) {
    single_load<single_threads>(to_k, k, at, count, w.length, pitch, a.n.head_dim);
    single_load<single_threads>(to_v, v, at, count, w.length, pitch, a.n.head_dim);
  };
  const auto load_queries = [&](float* to_q, float* to_dout, int at, int count) {
    single_load<single_threads>(to_q, q, at, count, w.rows, pitch, a.n.head_dim);
    single_load<single_threads>(to_dout, dout, at, count, w.rows, pitch, a.n.head_dim);
  };
  float2 statistics{no_row, 0};
  if constexpr (Keys) {
    load_keys(own_first, own_second, w.first_own, single_own);
  } else {
    load_queries(own_first, own_second, w.first_own, single_own);
    statistics = single_statistics(a, w, dout, w.first_own + own);
  }
  SingleSums sums{}, value_sums{};
  for (int at = w.first; at < w.end; at += single_other) {
    __syncthreads();  // the rows before are no longer read
    if constexpr (Keys) {
      load_queries(first, second, at, single_other);
    } else {
      load_keys(first, second, at, single_other);
    }
    __syncthreads();
    float score = single_product(own_first + own * pitch, first + place * pitch, pitch);
    float dp = single_product(own_second + own * pitch, second + place * pitch, pitch);
    const int query = quotient(Keys ? at + place : w.first_own + own, a.n.group);
    if constexpr (Keys)
      statistics = at + place < other_end ? w.statistics[at + place] : make_float2(no_row, 0);
    soften(score, dp, statistics, a.n);
    const bool seen = sees(query, Keys ? w.first_own + own : at + place, a.n.window);
    p[place] = seen ? score : 0;
    ds[place] = seen ? dp : 0;
    __syncwarp();  // a row's eight threads are in one warp
    sums.add(ds, first, single_other, pitch);
    if constexpr (Keys) value_sums.add(p, second, single_other, pitch);
  }
  if (w.first_own + own < own_end) store_single<Keys>(a, w, w.first_own + own, sums, value_sums);
}

}  // namespace lorikeet::cuda
