// SPDX-License-Identifier: Apache-2.0
#include "kernels/int8.h"

#include <algorithm>
#include <cmath>

namespace lorikeet {

float int8_quantize_row(std::span<const float> values, std::int8_t* codes) {
  float absmax = 0;
  for (const float value : values) absmax = std::max(absmax, std::fabs(value));
  const float factor = 127.0f / absmax;
  for (std::size_t i = 0; i < values.size(); ++i) {
    float scaled = 0;
    if (absmax > 0) scaled = std::isfinite(factor) ? values[i] * factor : values[i] / absmax * 127.0f;
    codes[i] = static_cast<std::int8_t>(std::nearbyint(scaled));
  }
  return absmax;
}

void int8_dequantize_row(const std::int8_t* codes, float absmax, std::span<float> out) {
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<float>(codes[i]) * absmax * 7.874015718698502e-3f;
}

}  // namespace lorikeet
