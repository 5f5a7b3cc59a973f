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
  // Written as instructions: GCC 12 takes values of the intrinsics' own bf16 types through memory.
  static __m256i to_half(__m512 value) {
    __m256i half;
    asm("vcvtneps2bf16 %1, %0" : "=v"(half) : "v"(value));
    return half;
  }
  static __m512i to_half(__m512 high, __m512 low) {
    __m512i halves;
    asm("vcvtne2ps2bf16 %2, %1, %0" : "=v"(halves) : "v"(high), "v"(low));
    return halves;
  }
  /// sum of each lane's two products a b added to `sum`.
  static __m512 multiply(__m512 sum, __m512i a, __m512i b) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
    return sum;
  }
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
  static void four_bit_to_bf16(const FourBitRows& from, std::uint16_t* to, std::int64_t leading) {
    const __m512 codes = _mm512_loadu_ps(from.code);
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

  static void split_bf16(const std::uint16_t* x, std::uint16_t* to, std::int64_t n) {
    for (std::int64_t i = 0; i < n; i += 64) {
      const __m512i low = _mm512_loadu_si512(x + i);
      const __m512i high = _mm512_loadu_si512(x + i + 32);
      const __m256i even_low = _mm512_cvtepi32_epi16(low), even_high = _mm512_cvtepi32_epi16(high);
      const __m256i odd_low = _mm512_cvtepi32_epi16(_mm512_srli_epi32(low, 16));
      const __m256i odd_high = _mm512_cvtepi32_epi16(_mm512_srli_epi32(high, 16));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i), even_low);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + 16), even_high);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + 32), odd_low);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + i + 48), odd_high);
    }
  }

  static __mmask32 first_words(std::int64_t n) { return n >= 32 ? 0xffffffffu : (1u << n) - 1u; }

  /// Rows are read a few at a time, which the processor does not foresee: each asks for the row so many rows
  /// on.
  static constexpr std::int64_t rows_ahead = 8;

  /// Rows of weights, 64 at a time as two registers, in the order in which x stands.
  struct FourBitSource {
    static constexpr int rows_for_one = 2;  ///< rows at once when there is one row of x
    const FourBitRows& from;
    std::int64_t k() const { return from.blocks * 64; }
    void prefetch(std::int64_t row, std::int64_t at) const {
      _mm_prefetch(reinterpret_cast<const char*>(from.packed + (row + rows_ahead) * from.stride + at / 2),
                   _MM_HINT_T0);
    }
    void load(std::int64_t row, std::int64_t at, std::int64_t, __m512i* to) const {
      const std::int64_t block = at / 64;
      const std::uint8_t* packed = from.packed + row * from.stride + block * 32;
      const __m512 absmax = _mm512_set1_ps(from.absmax[row * from.blocks + block]);
      const __m512i table =
          _mm512_broadcast_i64x4(to_half(_mm512_mul_ps(_mm512_loadu_ps(from.code), absmax)));
      const __m512i bytes =
          _mm512_cvtepu8_epi16(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(packed)));
      to[0] = _mm512_permutexvar_epi16(_mm512_srli_epi16(bytes, 4), table);
      to[1] = _mm512_permutexvar_epi16(bytes, table);
    }
  };
  struct Bf16Source {
    static constexpr int rows_for_one = 1;
    const DotOperands& from;
    std::int64_t k() const { return from.k; }
    void prefetch(std::int64_t row, std::int64_t at) const {
      const auto* weights =
          static_cast<const std::uint16_t*>(from.rows_data) + (row + rows_ahead) * from.k + at;
      _mm_prefetch(reinterpret_cast<const char*>(weights), _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(weights + 32), _MM_HINT_T0);
    }
    void load(std::int64_t row, std::int64_t at, std::int64_t count, __m512i* to) const {
      const std::uint16_t* weights = static_cast<const std::uint16_t*>(from.rows_data) + row * from.k + at;
      to[0] = _mm512_maskz_loadu_epi16(first_words(count), weights);
      to[1] = count > 32 ? _mm512_maskz_loadu_epi16(first_words(count - 32), weights + 32)
                         : _mm512_setzero_si512();
    }
  };
  struct F16Source {
    static constexpr int rows_for_one = 1;
    const DotOperands& from;
    std::int64_t k() const { return from.k; }
    void prefetch(std::int64_t row, std::int64_t at) const { Bf16Source{from}.prefetch(row, at); }
    void load(std::int64_t row, std::int64_t at, std::int64_t count, __m512i* to) const {
      Bf16Source{from}.load(row, at, count, to);
      for (int half = 0; half < 2; ++half) {
        const __m512 low = _mm512_cvtph_ps(_mm512_castsi512_si256(to[half]));
        const __m512 high = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(to[half], 1));
        to[half] = to_half(high, low);
      }
    }
  };

  /// R rows of weights with M of x over columns [first, last). The fewer products, the more sums each keeps,
  /// to hide their latency.
  template <int R, int M, typename Source>
  static void tile(const Source& source, const DotOperands& o, std::int64_t row, std::int64_t m,
                   std::int64_t first, std::int64_t last, float* lane_sums) {
    constexpr int parts = R * M >= 8 ? 1 : R * M >= 2 ? 2 : 4;
    constexpr int unroll = parts == 4 ? 2 : 1;
    const std::uint16_t* x = static_cast<const std::uint16_t*>(o.x) + m * o.x_stride;
    float* to = lane_sums + (row * o.m + m) * 16;
    __m512 sums[R][M][parts];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        sums[r][i][0] = first == 0 ? _mm512_setzero_ps() : _mm512_loadu_ps(to + (r * o.m + i) * 16);
#pragma GCC unroll 8
        for (int part = 1; part < parts; ++part) sums[r][i][part] = _mm512_setzero_ps();
      }
    }
    std::int64_t at = first;
    for (; at + 64 * unroll <= last; at += 64 * unroll) {
#pragma GCC unroll 8
      for (int block = 0; block < unroll; ++block) {
        add_block<R, M, parts>(source, row, at + block * 64, x, o.x_stride, block * 2, sums);
      }
    }
    for (; at < last; at += 64) add_end<R, M, parts>(source, row, at, last - at, x, o.x_stride, sums);
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        __m512 sum = sums[r][i][0];
#pragma GCC unroll 8
        for (int part = 1; part < parts; ++part) sum = _mm512_add_ps(sum, sums[r][i][part]);
        _mm512_storeu_ps(to + (r * o.m + i) * 16, sum);
      }
    }
  }

  template <int R, int M, int parts, typename Source>
  static void add_block(const Source& source, std::int64_t row, std::int64_t at, const std::uint16_t* x,
                        std::int64_t stride, int part, __m512 (&sums)[R][M][parts]) {
    __m512i weights[R][2];
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      source.prefetch(row + r, at);
      source.load(row + r, at, 64, weights[r]);
    }
#pragma GCC unroll 8
    for (int half = 0; half < 2; ++half) {
#pragma GCC unroll 8
      for (int i = 0; i < M; ++i) {
        const __m512i with = _mm512_loadu_si512(x + i * stride + at + half * 32);
#pragma GCC unroll 8
        for (int r = 0; r < R; ++r) {
          __m512& sum = sums[r][i][(part + half) % parts];
          sum = multiply(sum, weights[r][half], with);
        }
      }
    }
  }

  /// The same for the last `count` <= 64 columns.
  template <int R, int M, int parts, typename Source>
  static void add_end(const Source& source, std::int64_t row, std::int64_t at, std::int64_t count,
                      const std::uint16_t* x, std::int64_t stride, __m512 (&sums)[R][M][parts]) {
#pragma GCC unroll 8
    for (int r = 0; r < R; ++r) {
      __m512i weights[2];
      source.load(row + r, at, count, weights);
      for (int half = 0; half * 32 < count; ++half) {
        const __mmask32 mask = first_words(count - half * 32);
#pragma GCC unroll 8
        for (int i = 0; i < M; ++i) {
          const __m512i with = _mm512_maskz_loadu_epi16(mask, x + i * stride + at + half * 32);
          sums[r][i][0] = multiply(sums[r][i][0], weights[half], with);
        }
      }
    }
  }

  template <int R, int M, typename Source>
  static void rows_of_tiles(const Source& source, const DotOperands& o, std::int64_t m, std::int64_t first,
                            std::int64_t last, float* lane_sums) {
    std::int64_t row = 0;
    for (; row + R <= o.rows; row += R) tile<R, M>(source, o, row, m, first, last, lane_sums);
    for (; row < o.rows; ++row) tile<1, M>(source, o, row, m, first, last, lane_sums);
  }

  /// Columns go in pieces whose activations stay in the first-level cache; one row of x needs none.
  template <typename Source>
  static void dot_bf16(const Source& source, const DotOperands& o, float* lane_sums) {
    const std::int64_t k = source.k();
    const std::int64_t step = o.m == 1 ? k : 1024;
    for (std::int64_t first = 0; first < k; first += step) {
      const std::int64_t last = first + step < k ? first + step : k;
      std::int64_t m = 0;
      for (; m + 8 <= o.m; m += 8) rows_of_tiles<2, 8>(source, o, m, first, last, lane_sums);
      for (; m + 4 <= o.m; m += 4) rows_of_tiles<4, 4>(source, o, m, first, last, lane_sums);
      for (; m + 2 <= o.m; m += 2) rows_of_tiles<4, 2>(source, o, m, first, last, lane_sums);
      for (; m < o.m; ++m) rows_of_tiles<Source::rows_for_one, 1>(source, o, m, first, last, lane_sums);
    }
  }
  static void four_bit_dot_bf16(const FourBitRows& from, const DotOperands& o, float* lane_sums) {
    dot_bf16(FourBitSource{from}, o, lane_sums);
  }
  static void bf16_dot_bf16(const DotOperands& o, float* lane_sums) {
    dot_bf16(Bf16Source{o}, o, lane_sums);
  }
  static void f16_dot_bf16(const DotOperands& o, float* lane_sums) {
    dot_bf16(F16Source{o}, o, lane_sums);
  }
};

constexpr LinearKernels table() {
  LinearKernels table = table_of<Avx512Bf16>();
  table.four_bit_dot_bf16 = Avx512Bf16::four_bit_dot_bf16;
  table.bf16_dot_bf16 = Avx512Bf16::bf16_dot_bf16;
  table.f16_dot_bf16 = Avx512Bf16::f16_dot_bf16;
  return table;
}

}  // namespace

extern const LinearKernels linear_kernels_avx512_bf16;
const LinearKernels linear_kernels_avx512_bf16 = table();

}  // namespace lorikeet
