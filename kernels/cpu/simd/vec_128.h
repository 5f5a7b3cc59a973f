// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <smmintrin.h>

// Vectors of 16 bytes (x86-64-v2): what plain vector arithmetic of the compiler does not give.
namespace {

constexpr int vector_bytes = 16;
inline __m128 native_splat(float x) {
  return _mm_set1_ps(x);
}
inline __m128i native_splat_bits(int x) {
  return _mm_set1_epi32(x);
}
inline __m128 native_sqrt(__m128 x) {
  return _mm_sqrt_ps(x);
}
inline __m128 native_max(__m128 a, __m128 b) {
  return _mm_max_ps(a, b);
}
inline __m128 native_min(__m128 a, __m128 b) {
  return _mm_min_ps(a, b);
}

/// p * 2^n for whole n in [-126, 127], and x rounded to a whole number.
inline __m128 native_scale(__m128 p, __m128 n) {
  const __m128i exponent = _mm_slli_epi32(_mm_cvtps_epi32(n), 23);
  return _mm_castsi128_ps(_mm_add_epi32(_mm_castps_si128(p), exponent));
}
inline __m128 native_round(__m128 x) {
  return _mm_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// Largest of each four lanes that are 4 apart.
inline __m128 native_fold_max(__m128 x) {
  return x;
}
/// Sum of each four lanes that are 4 apart.
inline __m128 native_fold_add(__m128 x) {
  return x;
}
inline __m128 native_extend(__m128 x) {
  return x;
}
inline __m128 native_lowest_four(__m128 x) {
  return x;
}

/// 4 whole numbers of 16 bits to 32 and back (they fit).
inline __m128i native_widen(const void* from) {
  return _mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
}
inline void native_narrow(void* to, __m128i x) {
  _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packus_epi32(x, x));
}

}  // namespace
