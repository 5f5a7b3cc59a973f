// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <immintrin.h>

// Vectors of 64 bytes (AVX-512): what plain vector arithmetic of the compiler does not give. The masked forms
// with a full mask are the plain instructions; the plain intrinsics of GCC 12 warn about an undefined operand
// of their own.
namespace {

constexpr int vector_bytes = 64;
inline __m512 native_splat(float x) {
  return _mm512_set1_ps(x);
}
inline __m512i native_splat_bits(int x) {
  return _mm512_set1_epi32(x);
}
inline __m512 native_sqrt(__m512 x) {
  return _mm512_mask_sqrt_ps(x, 0xffff, x);
}
inline __m512 native_max(__m512 a, __m512 b) {
  return _mm512_mask_max_ps(a, 0xffff, a, b);
}
inline __m512 native_min(__m512 a, __m512 b) {
  return _mm512_mask_min_ps(a, 0xffff, a, b);
}

/// p * 2^n for whole n, and x rounded to a whole number.
inline __m512 native_scale(__m512 p, __m512 n) {
  return _mm512_mask_scalef_ps(p, 0xffff, p, n);
}
inline __m512 native_round(__m512 x) {
  return _mm512_mask_roundscale_ps(x, 0xffff, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
/// Largest of each four lanes that are 4 apart.
inline __m128 native_fold_max(__m512 x) {
  const __m256 half = _mm256_max_ps(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                                    __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  return _mm_max_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
/// Sum of each four lanes that are 4 apart.
inline __m128 native_fold_add(__m512 x) {
  const __m256 half = _mm256_add_ps(__builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7),
                                    __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15));
  return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}
inline __m512 native_extend(__m128 x) {
  return _mm512_zextps128_ps512(x);
}
inline __m128 native_lowest_four(__m512 x) {
  return __builtin_shufflevector(x, x, 0, 1, 2, 3);
}

/// 16 whole numbers of 16 bits to 32 and back (they fit).
inline __m512i native_widen(const void* from) {
  return _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(static_cast<const __m256i_u*>(from)));
}
inline void native_narrow(void* to, __m512i x) {
  _mm256_storeu_si256(static_cast<__m256i_u*>(to), _mm512_maskz_cvtepi32_epi16(0xffff, x));
}

}  // namespace
