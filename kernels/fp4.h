// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lorikeet {

/// bitsandbytes' FP4 (formats.md §2.1): a sign, two exponent bits and one mantissa bit, divided by 12.
/// Blocks, packing and nested absmax are those of NF4 (nf4.h).

/// The value of each of the 16 codes, in the order of their bits (not ascending); code 8 is zero too.
inline constexpr std::array<float, 16> fp4_code = {
    0.0f, 0.0625f / 12,  8.0f / 12,  12.0f / 12,  4.0f / 12,  6.0f / 12,  2.0f / 12,  3.0f / 12,
    0.0f, -0.0625f / 12, -8.0f / 12, -12.0f / 12, -4.0f / 12, -6.0f / 12, -2.0f / 12, -3.0f / 12,
};

/// As nf4_quantize. What rounds to zero from above takes code 8, as in bitsandbytes' CPU back end; it decodes
/// to 0.
void fp4_quantize(std::span<const float> values, std::uint8_t* packed, float* absmax);

/// As nf4_dequantize.
void fp4_dequantize(const std::uint8_t* packed, const float* absmax, std::int64_t first,
                    std::span<float> out);

}  // namespace lorikeet
