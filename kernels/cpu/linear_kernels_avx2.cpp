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

  static void nf4_to_f32(const Nf4Rows& from, bool rounded, float* to, std::int64_t leading) {
    for (std::int64_t row = 0; row < from.rows; ++row) {
      const std::uint8_t* packed = from.packed + row * from.stride;
      float* out = to + row * leading;
      for (std::int64_t block = 0; block < from.blocks; ++block, packed += 32, out += 64) {
        alignas(32) float table[16];
        for (int i = 0; i < 16; ++i) table[i] = nf4_values[i] * from.absmax[row * from.blocks + block];
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
};

}  // namespace

extern const LinearKernels linear_kernels_avx2;
const LinearKernels linear_kernels_avx2 = table_of<Avx2>();

}  // namespace lorikeet
