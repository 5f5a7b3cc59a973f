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

/// p * 2^n for whole n in [-126, 127], and x rounded to a whole number.
inline __m256 native_scale(__m256 p, __m256 n) {
  const __m256i exponent = _mm256_slli_epi32(_mm256_cvtps_epi32(n), 23);
  return _mm256_castsi256_ps(_mm256_add_epi32(_mm256_castps_si256(p), exponent));
}
inline __m256 native_round(__m256 x) {
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// Largest of each four lanes that are 4 apart.
inline __m128 native_fold_max(__m256 x) {
  return _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}
/// Sum of each four lanes that are 4 apart.
inline __m128 native_fold_add(__m256 x) {
  return _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
}
inline __m256 native_extend(__m128 x) {
  return _mm256_zextps128_ps256(x);
}
inline __m128 native_lowest_four(__m256 x) {
  return _mm256_castps256_ps128(x);
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
