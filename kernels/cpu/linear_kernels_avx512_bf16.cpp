// SPDX-License-Identifier: Apache-2.0
// vcvtneps2bf16 rounds to nearest even and takes subnormal numbers for zero, as the processor's bf16 products
// do.
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/linear_kernels.h"

namespace lorikeet {

namespace {

#include "kernels/cpu/linear_kernels.inc"
#include "kernels/cpu/linear_kernels_avx512.inc"

struct Avx512Bf16 : Avx512 {
  static __m256i to_half(__m512 value) { return reinterpret_cast<__m256i>(_mm512_cvtneps_pbh(value)); }
  static __m512 from_half(__m256i bits) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }

  static void f32_to_bf16(const float* from, std::uint16_t* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 16) {
      const __mmask16 mask = first_lanes(n - i);
      _mm256_mask_storeu_epi16(to + i, mask, to_half(_mm512_maskz_loadu_ps(mask, from + i)));
    }
  }

  /// 16 bytes are 32 values: as two words of a register, the upper nibble is the first index and the whole
  /// byte the second, of which a look-up in 32 words uses five bits; the table stands there twice, so that
  /// the fifth is free.
  static void nf4_to_bf16(const Nf4Rows& from, std::uint16_t* to, std::int64_t leading) {
    const __m512 codes = _mm512_loadu_ps(nf4_values);
    for (std::int64_t row = 0; row < from.rows; ++row) {
      const std::uint8_t* packed = from.packed + row * from.stride;
      std::uint16_t* out = to + row * leading;
      for (std::int64_t block = 0; block < from.blocks; ++block, packed += 32, out += 64) {
        const __m512 scaled = _mm512_mul_ps(codes, _mm512_set1_ps(from.absmax[row * from.blocks + block]));
        const __m512i table = _mm512_broadcast_i64x4(to_half(scaled));
        for (int half = 0; half < 2; ++half) {
          const __m512i bytes =
              _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(packed + half * 16)));
          const __m512i index = _mm512_or_si512(_mm512_srli_epi32(bytes, 4), _mm512_slli_epi32(bytes, 16));
          _mm512_storeu_si512(out + half * 32, _mm512_permutexvar_epi16(index, table));
        }
      }
    }
  }

  static void finish_bf16(const float* sum, const float* bias, bool accumulate, std::uint16_t* y,
                          std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 16) {
      const __mmask16 mask = first_lanes(n - i);
      __m512 value = _mm512_maskz_loadu_ps(mask, sum + i);
      if (bias != nullptr) value = _mm512_add_ps(value, _mm512_maskz_loadu_ps(mask, bias + i));
      if (accumulate) value = _mm512_add_ps(value, from_half(_mm256_maskz_loadu_epi16(mask, y + i)));
      _mm256_mask_storeu_epi16(y + i, mask, to_half(value));
    }
  }

  static float exponentials_bf16(const float* logits, float largest, std::uint16_t* to, std::int64_t n) {
    Floats sum = Floats{};
    for (std::int64_t i = 0; i < n; i += lanes) {
      const Floats value = exponentials(logits + i, largest, n - i);
      sum += value;
      _mm256_mask_storeu_epi16(to + i, first_lanes(n - i), to_half(reinterpret_cast<__m512>(value)));
    }
    return total(sum);
  }
};

}  // namespace

extern const LinearKernels linear_kernels_avx512_bf16;
const LinearKernels linear_kernels_avx512_bf16 = table_of<Avx512Bf16>();

}  // namespace lorikeet
