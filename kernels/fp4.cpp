// SPDX-License-Identifier: Apache-2.0
#include "kernels/fp4.h"

#include "kernels/four_bit.h"

namespace lorikeet {

const std::array<float, 16> fp4_code = {
    0.0f, 0.0625f / 12,  8.0f / 12,  12.0f / 12,  4.0f / 12,  6.0f / 12,  2.0f / 12,  3.0f / 12,
    0.0f, -0.0625f / 12, -8.0f / 12, -12.0f / 12, -4.0f / 12, -6.0f / 12, -2.0f / 12, -3.0f / 12,
};

namespace {

const FourBitCode code = make_four_bit_code(fp4_code, {11, 10, 13, 12, 15, 14, 9, 0, 8, 1, 6, 7, 4, 5, 2, 3});

}  // namespace

void fp4_quantize(std::span<const float> values, std::uint8_t* packed, float* absmax) {
  four_bit_quantize(code, values, packed, absmax);
}

void fp4_dequantize(const std::uint8_t* packed, const float* absmax, std::int64_t first,
                    std::span<float> out) {
  four_bit_dequantize(code, packed, absmax, first, out);
}

}  // namespace lorikeet
