// SPDX-License-Identifier: Apache-2.0
#include "kernels/four_bit.h"

#include <algorithm>
#include <cmath>

#include "kernels/nf4.h"

namespace lorikeet {

namespace {

/// Codes of one block; counts midpoints below each value instead of searching, so that the loops vectorise.
void encode_block(const FourBitCode& code, const float* values, std::int64_t count, float absmax,
                  std::int32_t* codes) {
  float scaled[nf4_block] = {};
  const float inverse = 1.0f / absmax;
  if (absmax > 0 && std::isfinite(inverse)) {
    for (std::int64_t i = 0; i < count; ++i) scaled[i] = values[i] * inverse;
  } else if (absmax > 0) {  // a subnormal absmax has no inverse
    for (std::int64_t i = 0; i < count; ++i) scaled[i] = values[i] / absmax;
  }
  for (std::int64_t i = 0; i < nf4_block; ++i) codes[i] = 0;
  for (const float midpoint : code.midpoints) {
    for (std::int64_t i = 0; i < nf4_block; ++i) codes[i] += scaled[i] > midpoint ? 1 : 0;
  }
  for (std::int64_t i = 0; i < nf4_block; ++i) codes[i] = code.ascending[static_cast<std::size_t>(codes[i])];
}

}  // namespace

FourBitCode make_four_bit_code(const std::array<float, 16>& values,
                               const std::array<std::uint8_t, 16>& ascending) {
  FourBitCode code{values, ascending, {}};
  for (std::size_t i = 0; i < code.midpoints.size(); ++i) {
    code.midpoints[i] = (values[ascending[i]] + values[ascending[i + 1]]) * 0.5f;
  }
  return code;
}

void four_bit_quantize(const FourBitCode& code, std::span<const float> values, std::uint8_t* packed,
                       float* absmax) {
  const auto total = static_cast<std::int64_t>(values.size());
  std::int32_t codes[nf4_block];
  for (std::int64_t first = 0; first < total; first += nf4_block) {
    const std::int64_t count = std::min(nf4_block, total - first);
    const float* block = values.data() + first;
    float largest = 0;
    for (std::int64_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(block[i]));
    absmax[first / nf4_block] = largest;
    encode_block(code, block, count, largest, codes);
    std::uint8_t* out = packed + first / 2;
    for (std::int64_t j = 0; j < (count + 1) / 2; ++j) {
      out[j] = static_cast<std::uint8_t>((codes[2 * j] << 4) | codes[2 * j + 1]);
    }
  }
}

void four_bit_dequantize(const FourBitCode& code, const std::uint8_t* packed, const float* absmax,
                         std::int64_t first, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t element = first + static_cast<std::int64_t>(i);
    const std::uint8_t byte = packed[element / 2];
    const int index = element % 2 == 0 ? byte >> 4 : byte & 15;
    out[i] = code.values[static_cast<std::size_t>(index)] * absmax[element / nf4_block];
  }
}

}  // namespace lorikeet
