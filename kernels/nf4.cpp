// SPDX-License-Identifier: Apache-2.0
#include "kernels/nf4.h"

#include <algorithm>
#include <cmath>

#include "kernels/dynamic_map.h"
#include "kernels/four_bit.h"

namespace lorikeet {

namespace {

const FourBitCode code = make_four_bit_code(nf4_code, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});

float largest_magnitude(const float* values, std::int64_t count) {
  float largest = 0;
  for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(values[i]));
  return largest;
}

}  // namespace

void nf4_quantize(std::span<const float> values, std::uint8_t* packed, float* absmax) {
  four_bit_quantize(code, values, packed, absmax);
}

NestedAbsmax nest_absmax(std::span<const float> absmax) {
  NestedAbsmax nested;
  const auto count = static_cast<std::int64_t>(absmax.size());
  double sum = 0;
  for (const float value : absmax) sum += static_cast<double>(value);
  nested.offset = static_cast<float>(sum / static_cast<double>(std::max<std::int64_t>(1, count)));
  nested.codes.resize(absmax.size());
  nested.nested_absmax.resize(static_cast<std::size_t>(nf4_nested_blocks(count)));
  const DynamicMap& map = signed_dynamic_map();
  std::vector<float> centred(static_cast<std::size_t>(nf4_nested_block));
  for (std::int64_t first = 0; first < count; first += nf4_nested_block) {
    const std::int64_t size = std::min(nf4_nested_block, count - first);
    for (std::int64_t i = 0; i < size; ++i) {
      centred[static_cast<std::size_t>(i)] = absmax[static_cast<std::size_t>(first + i)] - nested.offset;
    }
    const float largest = largest_magnitude(centred.data(), size);
    nested.nested_absmax[static_cast<std::size_t>(first / nf4_nested_block)] = largest;
    for (std::int64_t i = 0; i < size; ++i) {
      const float scaled = largest > 0 ? centred[static_cast<std::size_t>(i)] / largest : 0.0f;
      nested.codes[static_cast<std::size_t>(first + i)] = nearest_in_map(map, scaled);
    }
  }
  return nested;
}

void decode_absmax(const std::uint8_t* codes, const float* nested_absmax, float offset, std::int64_t first,
                   std::span<float> out) {
  const DynamicMap& map = signed_dynamic_map();
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t block = first + static_cast<std::int64_t>(i);
    out[i] = map[codes[block]] * nested_absmax[block / nf4_nested_block] + offset;
  }
}

void nf4_dequantize(const std::uint8_t* packed, const float* absmax, std::int64_t first,
                    std::span<float> out) {
  four_bit_dequantize(code, packed, absmax, first, out);
}

}  // namespace lorikeet
