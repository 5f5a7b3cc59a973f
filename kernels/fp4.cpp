// SPDX-License-Identifier: Apache-2.0
#include "kernels/fp4.h"

#include "kernels/four_bit.h"

namespace lorikeet {

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
