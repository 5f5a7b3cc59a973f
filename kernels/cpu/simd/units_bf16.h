// SPDX-License-Identifier: Apache-2.0
#pragma once

// bf16 operands of attention stay bf16: two in a unit, products by AVX512-BF16, sums in f32.
namespace {

struct PairUnit {
  static constexpr std::int64_t per_unit = 2;
  static LORIKEET_INLINE Vec multiply_add(Vec sum, Vec a, Vec b) {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(b));
  }
  static LORIKEET_INLINE void store_row(float* to, Vec x) {
    const __m256bh half = _mm512_maskz_cvtneps_pbh(0xffff, x);
    __builtin_memcpy(to, &half, sizeof half);
  }
  static LORIKEET_INLINE Vec load_row(const float* from) { return load(reinterpret_cast<const Bf16*>(from)); }
  static LORIKEET_INLINE void store_pair(float* to, std::int64_t, Vec first, Vec second) {
    const __m512i halves = reinterpret_cast<__m512i>(_mm512_maskz_cvtne2ps_pbh(0xffffffffu, second, first));
    const __m512i places = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23,
                                            7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    const __m512i mixed = _mm512_maskz_permutexvar_epi16(0xffffffffu, places, halves);
    __builtin_memcpy(to, &mixed, sizeof mixed);
  }
};

template <typename T>
struct UnitFor {
  using Type = SingleUnit;
};
template <>
struct UnitFor<Bf16> {
  using Type = PairUnit;
};

}  // namespace
