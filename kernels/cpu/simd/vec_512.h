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

/// 16 whole numbers of 16 bits to 32 and back (they fit).
inline __m512i native_widen(const void* from) {
  return _mm512_maskz_cvtepu16_epi32(0xffff, _mm256_loadu_si256(static_cast<const __m256i_u*>(from)));
}
inline void native_narrow(void* to, __m512i x) {
  _mm256_storeu_si256(static_cast<__m256i_u*>(to), _mm512_maskz_cvtepi32_epi16(0xffff, x));
}

}  // namespace
