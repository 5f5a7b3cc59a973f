// SPDX-License-Identifier: Apache-2.0
// Loops of the optimiser; the formulas are in ../optimizer.cpp. Compiled once per instruction set.
#include "kernels/cpu/simd/table.h"
#include "kernels/cpu/simd/vec.h"

namespace {

using lorikeet::simd::AdamBlock;
using lorikeet::simd::AdamFactors;
using lorikeet::simd::MapIndex;

/// Eight sums of their own in double: squares of f32 are exact in it, so all instruction sets give the same
/// bits.
double sum_of_squares(const float* x, std::int64_t n) {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += static_cast<double>(x[i + j]) * static_cast<double>(x[i + j]);
  }
  for (; i < n; ++i) sums[0] += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return ((sums[0] + sums[4]) + (sums[1] + sums[5])) + ((sums[2] + sums[6]) + (sums[3] + sums[7]));
}

void adamw(float* p, const float* g, float* m, float* v, std::int64_t n, const AdamFactors& f) {
  for_each_vector(n, [&](auto i) {
    const Vec gradient = i.load(g) * f.gradient_scale;
    const Vec old_m = i.load(m);
    const Vec new_m = old_m + (gradient - old_m) * f.beta1_rest;
    const Vec new_v = i.load(v) * f.beta2 + gradient * gradient * f.beta2_rest;
    i.store(m, new_m);
    i.store(v, new_v);
    const Vec update = new_m * f.step_size / (vec_sqrt(new_v) * f.v_scale + f.epsilon);
    const Vec old_p = i.load(p);
    i.store(p, f.decay_last ? (old_p - update) * f.keep : old_p * f.keep - update);
  });
}

/// Code of the entry nearest to x in [-1, 1]; the lower one at a midpoint.
LORIKEET_INLINE std::uint32_t nearest(const MapIndex& map, float x) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  const std::uint32_t upper = (bits & 0x7fffffffu) >> 16;
  const std::uint32_t bucket = upper > MapIndex::first ? upper - MapIndex::first : 0;
  const std::uint32_t below =
      map.below[bits >> 31][bucket < MapIndex::buckets ? bucket : MapIndex::buckets - 1];
  return below + (x > map.midpoints[below] ? 1u : 0u);
}

constexpr std::int64_t block_size = 256;

void adamw_8bit(const AdamBlock& b, const MapIndex& m_map, const MapIndex& v_map, const AdamFactors& f) {
  alignas(64) float m[block_size];
  alignas(64) float v[block_size];
  const float old_m = *b.m_absmax;
  const float old_v = *b.v_absmax;
  for (std::int64_t i = 0; i < b.n; ++i) {
    m[i] = m_map.values[b.m_codes[i]] * old_m;
    v[i] = v_map.values[b.v_codes[i]] * old_v;
  }
  Vec m_largest{};
  Vec v_largest{};
  for_each_vector(b.n, [&](auto i) {
    const Vec raw = i.load(b.g) * f.gradient_scale;
    const IntVec finite = (bits_of(raw) & 0x7fffffffu) < splat_bits(0x7f800000u);
    const Vec gradient = finite ? raw : Vec{};
    const Vec new_m = finite ? i.load(m) * f.beta1 + f.beta1_rest * gradient : Vec{};
    const Vec new_v = finite ? i.load(v) * f.beta2 + f.beta2_rest * gradient * gradient : Vec{};
    i.store(m, new_m);
    i.store(v, new_v);
    m_largest = vec_max(m_largest, from_bits(bits_of(new_m) & 0x7fffffffu));
    v_largest = vec_max(v_largest, new_v);
    const Vec p = i.load(b.p);
    const Vec updated = (p - f.step_size * (new_m / (vec_sqrt(new_v) + f.epsilon))) * f.keep;
    i.store(b.p, finite ? updated : p);
  });
  const float m_absmax = largest_of_lanes(m_largest);
  const float v_absmax = largest_of_lanes(v_largest);
  *b.m_absmax = m_absmax;
  *b.v_absmax = v_absmax;
  const float m_divisor = m_absmax > 0 ? m_absmax : 1;
  const float v_divisor = v_absmax > 0 ? v_absmax : 1;
  for_each_vector(b.n, [&](auto i) {
    i.store(m, i.load(m) / m_divisor);
    i.store(v, i.load(v) / v_divisor);
  });
  std::uint8_t codes[block_size];  // of its own, so that storing a code cannot change what is read next
  const std::uint32_t zero = nearest(m_map, 0.0f);
  for (std::int64_t i = 0; i < b.n; ++i) {
    const std::uint32_t code = nearest(m_map, m[i]);
    // A negative moment keeps its sign; zero counts as positive.
    codes[i] = static_cast<std::uint8_t>(code - ((code == zero) & (m[i] < 0) ? 1u : 0u));
  }
  __builtin_memcpy(b.m_codes, codes, static_cast<std::size_t>(b.n));
  for (std::int64_t i = 0; i < b.n; ++i) codes[i] = static_cast<std::uint8_t>(nearest(v_map, v[i]));
  __builtin_memcpy(b.v_codes, codes, static_cast<std::size_t>(b.n));
}

}  // namespace

namespace lorikeet::simd::LORIKEET_ISA {

extern const OptimizerKernels optimizer;
const OptimizerKernels optimizer = {sum_of_squares, adamw, adamw_8bit};

}  // namespace lorikeet::simd::LORIKEET_ISA
