// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/linear_kernels.h"

namespace lorikeet {

namespace {

#include "kernels/cpu/linear_kernels.inc"

struct Avx2 : Plain {
  static void f16_to_f32(const std::uint16_t* from, float* to, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
    }
    Plain::f16_to_f32(from + i, to + i, n - i);
  }

  /// Entries of a table of 16 by the low four bits of each index: bit 3 chooses between its halves.
  static __m256 look_up(__m256 low, __m256 high, __m256i index) {
    const __m256 below = _mm256_permutevar8x32_ps(low, index);
    const __m256 above = _mm256_permutevar8x32_ps(high, index);
    return _mm256_blendv_ps(below, above, _mm256_castsi256_ps(_mm256_slli_epi32(index, 28)));
  }

  static void four_bit_to_f32(const FourBitRows& from, bool rounded, float* to, std::int64_t leading) {
    for (std::int64_t row = 0; row < from.rows; ++row) {
      const std::uint8_t* packed = from.packed + row * from.stride;
      float* out = to + row * leading;
      for (std::int64_t block = 0; block < from.blocks; ++block, packed += 32, out += 64) {
        alignas(32) float table[16];
        for (int i = 0; i < 16; ++i) table[i] = from.code[i] * from.absmax[row * from.blocks + block];
        if (rounded) round_f32(table, table, 16);
        const __m256 low = _mm256_load_ps(table);
        const __m256 high = _mm256_load_ps(table + 8);
        for (int i = 0; i < 32; i += 8) {
          const __m256i bytes =
              _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(packed + i)));
          const __m256 even = look_up(low, high, _mm256_srli_epi32(bytes, 4));
          const __m256 odd = look_up(low, high, bytes);
          const __m256 first = _mm256_unpacklo_ps(even, odd);
          const __m256 second = _mm256_unpackhi_ps(even, odd);
          _mm256_storeu_ps(out + 2 * i, _mm256_permute2f128_ps(first, second, 0x20));
          _mm256_storeu_ps(out + 2 * i + 8, _mm256_permute2f128_ps(first, second, 0x31));
        }
      }
    }
  }

  static void four_bit_dot_f32(const FourBitRows& from, const DotOperands& o, bool rounded,
                               float* lane_sums) {
    const auto* x = static_cast<const float*>(o.x);
    for (std::int64_t row = 0; row < from.rows; ++row) {
      for (std::int64_t m = 0; m < o.m;) {
        float* to = lane_sums + (row * o.m + m) * lanes;
        const float* with = x + m * o.x_stride;
        if (o.m - m >= 4) {
          four_bit_row<4>(from, row, with, o.x_stride, rounded, to);
          m += 4;
        } else {
          four_bit_row<1>(from, row, with, o.x_stride, rounded, to);
          m += 1;
        }
      }
    }
  }

  template <int M>
  static void four_bit_row(const FourBitRows& from, std::int64_t row, const float* x, std::int64_t stride,
                           bool rounded, float* to) {
    __m256 even_sums[M], odd_sums[M];
    for (int m = 0; m < M; ++m) even_sums[m] = odd_sums[m] = _mm256_setzero_ps();
    const std::uint8_t* packed = from.packed + row * from.stride;
    for (std::int64_t block = 0; block < from.blocks; ++block, packed += 32, x += 64) {
      alignas(32) float table[16];
      const float absmax = from.absmax[row * from.blocks + block];
      for (int i = 0; i < 16; ++i) table[i] = from.code[i] * absmax;
      if (rounded) round_f32(table, table, 16);
      const __m256 low = _mm256_load_ps(table);
      const __m256 high = _mm256_load_ps(table + 8);
      for (int i = 0; i < 32; i += 8) {
        const __m256i bytes =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(packed + i)));
        const __m256 even = look_up(low, high, _mm256_srli_epi32(bytes, 4));
        const __m256 odd = look_up(low, high, bytes);
        for (int m = 0; m < M; ++m) {
          even_sums[m] = _mm256_fmadd_ps(even, _mm256_loadu_ps(x + m * stride + i), even_sums[m]);
          odd_sums[m] = _mm256_fmadd_ps(odd, _mm256_loadu_ps(x + m * stride + 32 + i), odd_sums[m]);
        }
      }
    }
    for (int m = 0; m < M; ++m) {
      _mm256_storeu_ps(to + m * lanes, even_sums[m]);
      _mm256_storeu_ps(to + m * lanes + 8, odd_sums[m]);
    }
  }
};

}  // namespace

extern const LinearKernels linear_kernels_avx2;
const LinearKernels linear_kernels_avx2 = table_of<Avx2>();

}  // namespace lorikeet
