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

/// Scores of one query with all keys, then their maximum, exp and sum, then the sum of values.
template <typename T>
void cached_head(const T* q, const AttentionKeys& from, float scale, float* statistics, float* sums) {
  alignas(64) float p[attention_cached_keys + lanes];
  for (std::int64_t j = 0; j < from.length; ++j) {
    const T* key = static_cast<const T*>(from.k) + j * from.stride;
    Vec sum{};
    for_each_vector(from.head_dim, [&](auto i) { sum += i.load(q) * i.load(key); });
    p[j] = sum_of_lanes(sum) * scale;
  }
  for (std::int64_t j = from.length; j < round_up(from.length, lanes); ++j) p[j] = minus_huge;
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
  for_each_vector(from.head_dim, [&](auto i) {
    Vec sum{};
    for (std::int64_t j = 0; j < from.length; ++j)
      sum += p[j] * i.load(static_cast<const T*>(from.v) + j * from.stride);
    i.store(sums, sum);
  });
}

template <typename T>
void cached_part(const void* q, std::int64_t heads, const AttentionKeys& from, float scale, float* statistics,
                 float* sums) {
  for (std::int64_t head = 0; head < heads; ++head) {
    cached_head(static_cast<const T*>(q) + head * from.head_dim, from, scale, statistics + 2 * head,
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
