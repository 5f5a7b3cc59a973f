// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace lorikeet {

/// bitsandbytes' NF4 (Dettmers et al. 2023, "QLoRA"; formats.md §2.1-2.3) on the host: the reference that the
/// back ends' own kernels agree with bit for bit. A tensor is flattened row-major; block i holds elements [64
/// i, 64 i + 64), the last block may be short. Element 2j is the high nibble of byte j, element 2j+1 the low
/// one.
constexpr std::int64_t nf4_block = 64;
/// Blocks whose absmax values share one nested absmax (double quantisation).
constexpr std::int64_t nf4_nested_block = 256;

constexpr std::int64_t nf4_blocks(std::int64_t elements) {
  return (elements + nf4_block - 1) / nf4_block;
}
constexpr std::int64_t nf4_nested_blocks(std::int64_t blocks) {
  return (blocks + nf4_nested_block - 1) / nf4_nested_block;
}

/// The 16 values of the code, ascending from -1 to 1.
inline constexpr std::array<float, 16> nf4_code = {
    -1.0f,
    -0.6961928009986877f,
    -0.5250730514526367f,
    -0.39491748809814453f,
    -0.28444138169288635f,
    -0.18477343022823334f,
    -0.09105003625154495f,
    0.0f,
    0.07958029955625534f,
    0.16093020141124725f,
    0.24611230194568634f,
    0.33791524171829224f,
    0.44070982933044434f,
    0.5626170039176941f,
    0.7229568362236023f,
    1.0f,
};

/// Quantises `values`, which begin at a block edge: `packed` gets (n+1)/2 bytes (an odd end is padded with
/// zero), `absmax` one value per block. An all-zero block gets absmax 0 and code 7 (zero). Values must be
/// finite.
void nf4_quantize(std::span<const float> values, std::uint8_t* packed, float* absmax);

/// Double quantisation of absmax values: absmax[i] ~ signed_dynamic_map()[codes[i]] * nested_absmax[i / 256]
/// + offset.
struct NestedAbsmax {
  std::vector<std::uint8_t> codes;
  std::vector<float> nested_absmax;
  float offset = 0;  ///< mean of the values
};
NestedAbsmax nest_absmax(std::span<const float> absmax);

/// Decodes absmax values [first, first + out.size()).
void decode_absmax(const std::uint8_t* codes, const float* nested_absmax, float offset, std::int64_t first,
                   std::span<float> out);

/// Elements [first, first + out.size()) as code * absmax in f32. `absmax` holds the values of all blocks from
/// block 0 on.
void nf4_dequantize(const std::uint8_t* packed, const float* absmax, std::int64_t first,
                    std::span<float> out);

}  // namespace lorikeet
