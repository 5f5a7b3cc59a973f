// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include LORIKEET_VEC_HEADER

// Vectors of the width a file is compiled for, and the few functions on them. All in an unnamed namespace: no
// code compiled for one instruction set may be shared with a file compiled for another.
namespace {

constexpr int lanes = vector_bytes / 4;

typedef float Vec __attribute__((vector_size(vector_bytes)));
typedef std::int32_t IntVec __attribute__((vector_size(vector_bytes)));
typedef std::uint32_t BitVec __attribute__((vector_size(vector_bytes)));

/// bf16 in memory.
struct Bf16 {
  std::uint16_t bits;
};

#define LORIKEET_INLINE inline __attribute__((always_inline))

LORIKEET_INLINE Vec splat(float x) {
  return x - Vec{};
}
LORIKEET_INLINE BitVec splat_bits(std::uint32_t x) {
  return x - BitVec{};
}
LORIKEET_INLINE BitVec bits_of(Vec x) {
  return reinterpret_cast<BitVec>(x);
}
LORIKEET_INLINE Vec from_bits(BitVec x) {
  return reinterpret_cast<Vec>(x);
}

LORIKEET_INLINE Vec vec_max(Vec a, Vec b) {
  return native_max(a, b);
}
LORIKEET_INLINE Vec vec_min(Vec a, Vec b) {
  return native_min(a, b);
}
LORIKEET_INLINE Vec vec_sqrt(Vec x) {
  return native_sqrt(x);
}

LORIKEET_INLINE IntVec lane_numbers() {
  IntVec numbers;
  for (int i = 0; i < lanes; ++i) numbers[i] = i;
  return numbers;
}

/// Nearest bf16, ties to even, in the upper half of each lane; the lower half is not zero. NaN stays NaN.
LORIKEET_INLINE BitVec bf16_upper(Vec x) {
  const BitVec bits = bits_of(x);
  const BitVec rounded = bits + 0x7fffu + ((bits >> 16) & 1u);
  return reinterpret_cast<BitVec>(x == x ? reinterpret_cast<IntVec>(rounded)
                                         : reinterpret_cast<IntVec>(bits | 0x400000u));
}

LORIKEET_INLINE Vec load(const float* from) {
  Vec x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
LORIKEET_INLINE Vec load(const Bf16* from) {
  return from_bits(reinterpret_cast<BitVec>(native_widen(from)) << 16);
}
/// Four bytes in every lane, whatever they mean.
LORIKEET_INLINE Vec splat_unit(const float* from) {
  std::int32_t bits;
  __builtin_memcpy(&bits, from, sizeof bits);
  return reinterpret_cast<Vec>(native_splat_bits(bits));
}
LORIKEET_INLINE void store(float* to, Vec x) {
  __builtin_memcpy(to, &x, sizeof x);
}
LORIKEET_INLINE void store(Bf16* to, Vec x) {
  typedef decltype(native_widen(nullptr)) Native;
  native_narrow(to, reinterpret_cast<Native>(bf16_upper(x) >> 16));
}

/// x as it is after storing and loading it as T.
LORIKEET_INLINE Vec rounded_to(const float*, Vec x) {
  return x;
}
LORIKEET_INLINE Vec rounded_to(const Bf16*, Vec x) {
  return from_bits(bf16_upper(x) & 0xffff0000u);
}

/// Sum of the lanes, in a fixed order.
LORIKEET_INLINE float sum_of_lanes(Vec x) {
  float part[lanes];
  __builtin_memcpy(part, &x, sizeof x);
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) part[i] += part[i + width];
  }
  return part[0];
}

LORIKEET_INLINE float largest_of_lanes(Vec x) {
  float part[lanes];
  __builtin_memcpy(part, &x, sizeof x);
  for (int width = lanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) part[i] = part[i] > part[i + width] ? part[i] : part[i + width];
  }
  return part[0];
}

/// exp(x) with a relative error below 2^-22.5: x = n ln2 + r, |r| <= ln2 / 2, exp(r) = 1 + r + r^2
/// (polynomial of degree 4, least squares of the relative error: 4e-9), times 2^n through the exponent bits.
/// 0 below -87, exp(88.3) above that.
LORIKEET_INLINE Vec vec_exp(Vec x) {
  const Vec clamped = vec_min(splat(88.3f), x);  // in this order NaN stays NaN
  const Vec magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to a whole number in the low bits
  const Vec shifted = clamped * 1.44269504f + magic;
  const Vec n = shifted - magic;
  const Vec r = (clamped - n * 0.693145752f) - n * 1.42860677e-6f;
  Vec p = splat(1.37513818e-3f);
  p = p * r + 8.36892333e-3f;
  p = p * r + 4.16695327e-2f;
  p = p * r + 1.66665182e-1f;
  p = p * r + 4.99999881e-1f;
  p = (p * (r * r) + r) + 1.0f;
  const Vec result = from_bits(bits_of(p) + (bits_of(shifted) << 23));
  return x < splat(-87.0f) ? Vec{} : result;
}

/// 2^x with a relative error below 2^-22, for x <= 100: x = n + f, |f| <= 1/2, a polynomial of degree 5
/// (least largest error 1.1e-7). What would be below 2^-126 becomes something below 2^-125.
LORIKEET_INLINE Vec vec_exp2(Vec x) {
  const Vec clamped = vec_max(splat(-126.0f), x);  // in this order NaN stays NaN
  const Vec n = native_round(clamped);
  const Vec f = clamped - n;
  Vec p = splat(1.32647192e-3f);
  p = p * f + 9.67152324e-3f;
  p = p * f + 5.55073395e-2f;
  p = p * f + 2.40222424e-1f;
  p = p * f + 6.93147004e-1f;
  p = p * f + 1.0f;
  return native_scale(p, n);
}
constexpr float log2_of_e = 1.44269504f;

/// tanh(x) with a relative error below 2^-22: x + x^3 p(x^2) up to 0.625 (polynomial of degree 4, least
/// largest relative error 5e-9), 1 - 2 / (exp(2 |x|) + 1) with x's sign beyond.
LORIKEET_INLINE Vec vec_tanh(Vec x) {
  const Vec size = from_bits(bits_of(x) & 0x7fffffffu);
  const Vec square = x * x;
  Vec p = splat(-5.67990076e-3f);
  p = p * square + 2.06186529e-2f;
  p = p * square + -5.37341610e-2f;
  p = p * square + 1.33313850e-1f;
  p = p * square + -3.33332807e-1f;
  const Vec near = p * (square * x) + x;
  const Vec far = 1.0f - 2.0f / (vec_exp(size + size) + 1.0f);
  return size < splat(0.625f) ? near : from_bits(bits_of(far) | (bits_of(x) & 0x80000000u));
}

/// Where a loop stands: a whole vector, or what is left of one. Values past the end read as 0.
struct Whole {
  std::int64_t at;
  template <typename T>
  LORIKEET_INLINE Vec load(const T* from) const {
    return ::load(from + at);
  }
  template <typename T>
  LORIKEET_INLINE void store(T* to, Vec x) const {
    ::store(to + at, x);
  }
  /// x with zeros past the end.
  LORIKEET_INLINE Vec keep(Vec x) const { return x; }
};
struct Part {
  std::int64_t at;
  std::int64_t left;
  template <typename T>
  Vec load(const T* from) const {
    T piece[lanes] = {};
    for (std::int64_t i = 0; i < left; ++i) piece[i] = from[at + i];
    return ::load(piece);
  }
  template <typename T>
  void store(T* to, Vec x) const {
    T piece[lanes];
    ::store(piece, x);
    for (std::int64_t i = 0; i < left; ++i) to[at + i] = piece[i];
  }
  LORIKEET_INLINE Vec keep(Vec x) const {
    return lane_numbers() < static_cast<std::int32_t>(left) ? x : Vec{};
  }
};

/// body(Whole or Part) over [0, n), in order.
template <typename Body>
LORIKEET_INLINE void for_each_vector(std::int64_t n, const Body& body) {
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) body(Whole{i});
  if (i < n) body(Part{i, n - i});
}

}  // namespace
