// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>

namespace lorikeet {

/// bfloat16 bits to float, exact.
inline float bf16_to_f32(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Float to bfloat16 bits, round to nearest even; every NaN stays a (quiet) NaN.
inline std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<std::uint16_t>((bits >> 16) | 0x40u);
  return static_cast<std::uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

/// IEEE half bits to float, exact, subnormals included.
float f16_to_f32(std::uint16_t bits);

/// Float to IEEE half bits, round to nearest even, overflow to infinity, NaN stays NaN.
std::uint16_t f32_to_f16(float value);

}  // namespace lorikeet
