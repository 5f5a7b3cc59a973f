// SPDX-License-Identifier: Apache-2.0
// Conversions and exact steps of the small floating types. Results that need more digits than they have are
// rounded once: a step is first done in f64 "to odd" (the last bit is set when digits were lost), which a
// second rounding to a type of at most 51 digits cannot spoil (Boldo and Melquiond, "Emulation of FMA and
// correctly rounded sums").
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace lorikeet::ptx {

enum class Rounding : std::uint8_t { nearest, zero, down, up };

inline float as_float(std::uint32_t bits) {
  return std::bit_cast<float>(bits);
}
inline std::uint32_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}
inline double as_double(std::uint64_t bits) {
  return std::bit_cast<double>(bits);
}
inline std::uint64_t bits_of(double value) {
  return std::bit_cast<std::uint64_t>(value);
}

struct f16 {
  std::uint16_t bits;
};
struct bf16 {
  std::uint16_t bits;
};

inline float to_float(float v) {
  return v;
}
inline float to_float(bf16 v) {
  return as_float(static_cast<std::uint32_t>(v.bits) << 16);
}
inline float to_float(f16 v) {
  const std::uint32_t sign = (v.bits & 0x8000u) << 16, rest = (v.bits & 0x7fffu) << 13;
  const std::uint32_t finite = bits_of(as_float(rest) * 0x1p112f);
  return as_float(((v.bits & 0x7c00u) == 0x7c00u ? rest | 0x7f800000u : finite) | sign);
}

/// To nearest even; NaN becomes the canonical 0x7fff (PTX ISA, cvt).
template <typename T>
inline T narrow(float v);
template <>
inline bf16 narrow<bf16>(float v) {
  const std::uint32_t x = bits_of(v);
  const std::uint32_t rounded = (x + 0x7fffu + ((x >> 16) & 1)) >> 16;
  return {static_cast<std::uint16_t>((x & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : rounded)};
}
template <>
inline f16 narrow<f16>(float v) {
  const std::uint32_t sign = bits_of(v) >> 16 & 0x8000u, x = bits_of(v) & 0x7fffffffu;
  const std::uint32_t normal = (x + 0xfffu + ((x >> 13) & 1) - 0x38000000u) >> 13;
  const std::uint32_t small = bits_of(as_float(x) + 0.5f) - 0x3f000000u;
  std::uint32_t h = x < 0x38800000u ? small : normal;
  h = x >= 0x477ff000u ? 0x7c00u : h;
  return {static_cast<std::uint16_t>(x > 0x7f800000u ? 0x7fffu : h | sign)};
}
template <>
inline float narrow<float>(float v) {
  return v;
}

/// s with its last bit set when `lost`, what the exact result has beyond it, is not zero.
inline double make_odd(double s, double lost) {
  const std::uint64_t bits = bits_of(s);
  if (lost == 0 || (bits & 1) != 0 || !(std::fabs(s) <= std::numeric_limits<double>::max())) return s;
  if (s == 0) return s;
  return as_double((lost > 0) == (s > 0) ? bits + 1 : bits - 1);
}
inline double add_odd(double a, double b) {
  const double s = a + b, t = s - a;
  return make_odd(s, (a - (s - t)) + (b - t));
}
/// a * b + c of values of at most 26 digits.
inline double fma_odd(double a, double b, double c) {
  return add_odd(a * b, c);
}
inline double divide_odd(double a, double b) {
  const double q = a / b;
  if (!(std::fabs(q) <= std::numeric_limits<double>::max()) || q == 0) return q;
  const double rest = std::fma(-q, b, a);
  return make_odd(q, b > 0 ? rest : -rest);
}
inline double sqrt_odd(double a) {
  const double r = std::sqrt(a);
  return r > 0 && r <= std::numeric_limits<double>::max() ? make_odd(r, std::fma(-r, r, a)) : r;
}

inline float round_to_float(double x, Rounding mode) {
  const auto f = static_cast<float>(x);
  if (mode == Rounding::nearest || std::isnan(x) || static_cast<double>(f) == x) return f;
  const bool too_large = static_cast<double>(f) > x;
  if (mode == Rounding::down || (mode == Rounding::zero && x > 0)) {
    return too_large ? std::nextafterf(f, -std::numeric_limits<float>::infinity()) : f;
  }
  return too_large ? f : std::nextafterf(f, std::numeric_limits<float>::infinity());
}
/// x to f32 with the last bit set when digits were lost.
inline float odd_float(double x) {
  const auto f = static_cast<float>(x);
  if (static_cast<double>(f) == x || std::isnan(x)) return f;
  const std::uint32_t bits = bits_of(f);
  return as_float((std::fabs(static_cast<double>(f)) > std::fabs(x) ? bits - 1 : bits) | 1u);
}
/// An f64 that holds the exact value or one rounded to odd, to f16, bf16 or f32.
template <typename T>
inline T narrow_odd(double x) {
  return narrow<T>(odd_float(x));
}
template <>
inline float narrow_odd<float>(double x) {
  return static_cast<float>(x);
}

inline float flush(float v) {
  return std::fabs(v) < 0x1p-126f ? as_float(bits_of(v) & 0x80000000u) : v;
}
inline float saturate(float v) {
  return v >= 1 ? 1.0f : v > 0 ? v : 0.0f;
}
inline double saturate(double v) {
  return v >= 1 ? 1.0 : v > 0 ? v : 0.0;
}

}  // namespace lorikeet::ptx
