// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace lorikeet {

/// A code of 16 values in [-1, 1] for blocks of 64 numbers that are scaled by their largest magnitude: what
/// NF4 and FP4 share (formats.md §2.2). A scaled value takes the upper of two neighbours only when it is
/// strictly greater than their f32 midpoint.
struct FourBitCode {
  std::array<float, 16> values;            ///< of each code
  std::array<std::uint8_t, 16> ascending;  ///< the codes in order of their values
  std::array<float, 15> midpoints;         ///< between neighbours of that order
};

/// Fills in the midpoints.
FourBitCode make_four_bit_code(const std::array<float, 16>& values,
                               const std::array<std::uint8_t, 16>& ascending);

/// As nf4_quantize and nf4_dequantize (nf4.h), for any code.
void four_bit_quantize(const FourBitCode& code, std::span<const float> values, std::uint8_t* packed,
                       float* absmax);
void four_bit_dequantize(const FourBitCode& code, const std::uint8_t* packed, const float* absmax,
                         std::int64_t first, std::span<float> out);

}  // namespace lorikeet
