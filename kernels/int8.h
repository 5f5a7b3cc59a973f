// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

namespace lorikeet {

/// bitsandbytes' LLM.int8() (Dettmers et al. 2022; formats.md §2.6) for one row of a weight matrix: codes[i]
/// = the whole number nearest to values[i] * (127 / absmax), ties to even. Returns absmax, the largest
/// magnitude; a row of zeros gets zeros. Values must be finite.
float int8_quantize_row(std::span<const float> values, std::int8_t* codes);

/// out[i] = codes[i] * absmax / 127, in f32 as bitsandbytes does it: a product with absmax, then one with
/// 1/127.
void int8_dequantize_row(const std::int8_t* codes, float absmax, std::span<float> out);

}  // namespace lorikeet
