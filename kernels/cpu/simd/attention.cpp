// SPDX-License-Identifier: Apache-2.0
// Attention's inner loops, compiled once per instruction set; the tasks they are parts of are in
// ../attention.cpp.
#include "kernels/cpu/simd/attention_backward.h"
#include "kernels/cpu/simd/attention_forward.h"
#include "kernels/cpu/simd/table.h"

namespace {

using lorikeet::simd::attention_cached_keys;
using lorikeet::simd::AttentionKernels;
using lorikeet::simd::AttentionLayout;

template <typename T>
AttentionLayout layout(std::int64_t head_dim) {
  const std::int64_t padded = round_up(head_dim, lanes);
  const std::int64_t forward = ForwardBuffers::bytes(padded);
  const std::int64_t backward = BackwardBuffers::bytes(padded);
  return {UnitFor<T>::Type::per_unit, padded, round_up(forward > backward ? forward : backward, 64)};
}

/// p = scale * (scores of one query with all keys), capped, four keys at a time; what is behind the last key
/// counts for nothing.
template <typename T>
void cached_scores(const T* q, const AttentionKeys& from, float scale, float soft_cap, float* p) {
  for (std::int64_t j = 0; j < from.length; j += group) {
    const T* key[group];
    for (std::int64_t k = 0; k < group; ++k) {
      key[k] = static_cast<const T*>(from.k) + (j + k < from.length ? j + k : from.length - 1) * from.stride;
    }
    Vec sums[group] = {};
    for_each_vector(from.head_dim, [&](auto i) {
      const Vec one = i.load(q);
      for (int k = 0; k < group; ++k) sums[k] += one * i.load(key[k]);
    });
    const Four scores = sum_of_each(sums) * scale;
    __builtin_memcpy(p + j, &scores, sizeof scores);
  }
  for (std::int64_t j = from.length; j < round_up(from.length, lanes); ++j) p[j] = minus_huge;
  if (soft_cap > 0) {
    for_each_vector(from.length, [&](auto i) { i.store(p, vec_tanh(i.load(p) / soft_cap) * soft_cap); });
  }
}

/// sums = p v, four vectors of columns at a time, so that sums do not wait for each other.
template <typename T>
void cached_values(const float* p, const AttentionKeys& from, float* sums) {
  constexpr int together = 4;
  std::int64_t c = 0;
  for (; c + together * lanes <= from.head_dim; c += together * lanes) {
    Vec sum[together] = {};
    const T* value = static_cast<const T*>(from.v) + c;
    for (std::int64_t j = 0; j < from.length; ++j, value += from.stride) {
      for (int n = 0; n < together; ++n) sum[n] += p[j] * load(value + n * lanes);
    }
    for (int n = 0; n < together; ++n) store(sums + c + n * lanes, sum[n]);
  }
  for_each_vector(from.head_dim - c, [&](auto i) {
    Vec sum{};
    const T* value = static_cast<const T*>(from.v) + c;
    for (std::int64_t j = 0; j < from.length; ++j, value += from.stride) sum += p[j] * i.load(value);
    i.store(sums + c, sum);
  });
}

template <typename T>
void cached_head(const T* q, const AttentionKeys& from, float scale, float soft_cap, float* statistics,
                 float* sums) {
  alignas(64) float p[attention_cached_keys + lanes];
  cached_scores(q, from, scale, soft_cap, p);
  Vec top = splat(minus_huge);
  for (std::int64_t j = 0; j < from.length; j += lanes) top = vec_max(top, load(p + j));
  statistics[0] = largest_of_lanes(top);
  Vec total{};
  for (std::int64_t j = 0; j < from.length; j += lanes) {
    const Vec value = vec_exp(load(p + j) - statistics[0]);
    store(p + j, value);
    total += value;
  }
  statistics[1] = sum_of_lanes(total);
  cached_values<T>(p, from, sums);
}

template <typename T>
void cached_part(const void* q, std::int64_t heads, const AttentionKeys& from, float scale, float soft_cap,
                 float* statistics, float* sums) {
  for (std::int64_t head = 0; head < heads; ++head) {
    cached_head(static_cast<const T*>(q) + head * from.head_dim, from, scale, soft_cap, statistics + 2 * head,
                sums + head * from.head_dim);
  }
}

}  // namespace

namespace lorikeet::simd::LORIKEET_ISA {

extern const AttentionKernels attention;
const AttentionKernels attention = {{layout<float>, layout<Bf16>},
                                    {forward_pack<float>, forward_pack<Bf16>},
                                    {forward_tile<float>, forward_tile<Bf16>},
                                    {backward_pack<float>, backward_pack<Bf16>},
                                    {backward_tile<float>, backward_tile<Bf16>},
                                    {store_rows<float>, store_rows<Bf16>},
                                    {cached_part<float>, cached_part<Bf16>}};

}  // namespace lorikeet::simd::LORIKEET_ISA
