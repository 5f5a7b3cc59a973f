// SPDX-License-Identifier: Apache-2.0
// What the kernels of attention_backward.cu share: their operands, the place of a block's tile, p and ds of a
// score.
#pragma once

#include <cstdint>

#include "kernels/cuda/attention.cuh"

namespace lorikeet::cuda {

/// What the kernels of attention_backward.cu take.
struct GradientArguments {
  const void *dout, *q, *k, *v, *out;
  void *dq, *dk, *dv;
  std::int64_t dout_stride, q_stride, k_stride, v_stride, out_stride, dq_stride, dk_stride, dv_stride;
  const float* lse;
  float2* statistics;  ///< (kv_heads, packed rows): lse to the base 2, delta
  AttentionNumbers n;
  const std::int32_t* cu;
  int sequences, tokens;
};

/// A tile's place and what it meets: rows [first, end) of the others, first a multiple of their tile.
struct GradientWork {
  int kv_head, begin, length, rows, first_own, first, end;
  float2* statistics;  ///< of packed row 0
};

template <int Own, int Other, bool Keys>
__device__ __forceinline__ GradientWork work_of_block(const GradientArguments& a) {
  const int group = static_cast<int>(a.n.group.value);
  const int slot = static_cast<int>(blockIdx.x) / a.n.kv_heads;
  const Place place = place_of_slot(a.cu, a.sequences, a.tokens, slot, Keys ? 1 : group, Own, !Keys);
  GradientWork w{};
  w.kv_head = static_cast<int>(blockIdx.x) % a.n.kv_heads;
  w.begin = place.begin;
  w.length = place.length;
  w.rows = place.length * group;
  w.first_own = place.first_row;
  w.statistics = a.statistics + (static_cast<std::int64_t>(w.kv_head) * a.tokens + w.begin) * group;
  if constexpr (Keys) {
    const int last_key = min(w.first_own + Own, w.length) - 1;
    w.first = w.first_own * group / Other * Other;
    w.end = (a.n.window > 0 ? min(w.length, last_key + min(a.n.window, w.length)) : w.length) * group;
  } else {
    const int first_query = quotient(w.first_own, a.n.group);
    w.first = a.n.window > 0 ? max(first_query + 1 - a.n.window, 0) / Other * Other : 0;
    w.end = quotient(min(w.first_own + Own, w.rows) - 1, a.n.group) + 1;
  }
  return w;
}

/// p and ds from a score, in place of the score and of dp; `row` is lse (base 2) and delta.
template <bool Capped>
__device__ __forceinline__ void soften(float& score, float& dp, float2 row, const AttentionNumbers& n) {
  float slope = 1;
  if constexpr (Capped) {
    const float t = tanhf(n.narrowing * score);
    score = n.cap * t;
    slope = 1 - t * t;
  }
  score = exp2f(score * n.multiplier - row.x);
  dp = score * (dp - row.y) * slope;
}

__device__ __forceinline__ void soften(float& score, float& dp, float2 row, const AttentionNumbers& n) {
  if (n.cap > 0) {
    soften<true>(score, dp, row, n);
  } else {
    soften<false>(score, dp, row, n);
  }
}

/// lse (base 2) and delta of a packed row, which does not exist: its p is 0.
constexpr float no_row = 1e30f;

/// The logarithm of the softmax denominator of packed row r, to the base 2.
__device__ __forceinline__ float row_lse(const GradientArguments& a, const GradientWork& w, int r) {
  const int token = quotient(r, a.n.group), group = static_cast<int>(a.n.group.value);
  return a.lse[static_cast<std::int64_t>(w.begin + token) * a.n.heads + w.kv_head * group +
               (r - token * group)] *
         1.44269504f;
}

}  // namespace lorikeet::cuda
