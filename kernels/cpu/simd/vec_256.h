// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

// Vectors of 32 bytes (AVX2): what plain vector arithmetic of the compiler does not give.
namespace {

constexpr int vector_bytes = 32;
inline __m256 native_splat(float x) {
  return _mm256_set1_ps(x);
}
inline __m256i native_splat_bits(int x) {
  return _mm256_set1_epi32(x);
}
inline __m256 native_sqrt(__m256 x) {
  return _mm256_sqrt_ps(x);
}
inline __m256 native_max(__m256 a, __m256 b) {
  return _mm256_max_ps(a, b);
}
inline __m256 native_min(__m256 a, __m256 b) {
  return _mm256_min_ps(a, b);
}

/// 8 whole numbers of 16 bits to 32 and back (they fit).
inline __m256i native_widen(const void* from) {
  return _mm256_cvtepu16_epi32(_mm_loadu_si128(static_cast<const __m128i_u*>(from)));
}
inline void native_narrow(void* to, __m256i x) {
  const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi32(x, x), 0x08);
  _mm_storeu_si128(static_cast<__m128i_u*>(to), _mm256_castsi256_si128(packed));
}

}  // namespace
