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

/// 4 whole numbers of 16 bits to 32 and back (they fit).
inline __m128i native_widen(const void* from) {
  return _mm_cvtepu16_epi32(_mm_loadl_epi64(static_cast<const __m128i*>(from)));
}
inline void native_narrow(void* to, __m128i x) {
  _mm_storel_epi64(static_cast<__m128i*>(to), _mm_packus_epi32(x, x));
}

}  // namespace
