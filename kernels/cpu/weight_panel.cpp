// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/weight_panel.h"

#include <algorithm>
#include <cstring>

#include "kernels/dynamic_map.h"
#include "kernels/fp4.h"
#include "kernels/nf4.h"

namespace lorikeet {

namespace {

constexpr std::int64_t piece_blocks = 64;   // blocks whose absmax are decoded at once
constexpr std::int64_t piece_values = 512;  // values converted through f32 at once

/// In place: the product takes the stored bytes. f32 weights under bf16 are rounded first.
bool in_place(const Weight& weight, DType compute, DType product) {
  if (weight.format == WeightFormat::bf16) return product == DType::bf16;
  return weight.format == WeightFormat::f32 && compute == DType::f32;
}

}  // namespace

WeightPanels::WeightPanels(const LinearKernels& kernels, const Weight& weight, DType compute, DType product)
    : kernels_(kernels),
      weight_(weight),
      product_(product),
      rounded_(compute == DType::bf16 && product == DType::f32),
      direct_(in_place(weight, compute, product)) {}

Panel WeightPanels::rows(std::int64_t first, std::int64_t count, void* buffer) const {
  const std::int64_t width = weight_.in;
  if (direct_) return {advance(weight_.values.view().data, first * width), width};
  expand(first * width, count * width, buffer);
  return {buffer, width};
}

Panel WeightPanels::columns(std::int64_t first, std::int64_t count, std::int64_t leading,
                            void* buffer) const {
  const std::int64_t width = weight_.in;
  if (direct_) return {advance(weight_.values.view().data, first), width};
  if (is_four_bit(weight_.format) && width % nf4_block == 0 && first % nf4_block == 0 &&
      count % nf4_block == 0) {
    expand_blocks(first / nf4_block, weight_.out, width / nf4_block, count / nf4_block, buffer, leading);
    return {buffer, leading};
  }
  for (std::int64_t row = 0; row < weight_.out; ++row) {
    expand(row * width + first, count, advance(buffer, row * leading));
  }
  return {buffer, leading};
}

void* WeightPanels::advance(void* to, std::int64_t elements) const {
  return static_cast<char*>(to) + elements * static_cast<std::int64_t>(size_of(product_));
}

void WeightPanels::expand(std::int64_t first, std::int64_t count, void* to) const {
  if (is_four_bit(weight_.format)) return expand_four_bit(first, count, to);
  if (weight_.format == WeightFormat::f32) {
    const float* from = weight_.values.view().as<float>() + first;
    if (product_ == DType::bf16) return kernels_.f32_to_bf16(from, static_cast<std::uint16_t*>(to), count);
    return kernels_.round_f32(from, static_cast<float*>(to), count);
  }
  if (weight_.format == WeightFormat::int8) return expand_int8(first, count, to);
  expand_half(first, count, to);
}

void WeightPanels::expand_int8(std::int64_t first, std::int64_t count, void* to) const {
  const std::int8_t* values = weight_.values.view().as<std::int8_t>();
  const float* absmax = weight_.absmax.view().as<float>();
  for (std::int64_t i = 0; i < count;) {
    const std::int64_t row = (first + i) / weight_.in;
    const std::int64_t n = std::min(count - i, (row + 1) * weight_.in - (first + i));
    if (product_ == DType::bf16)
      kernels_.int8_to_bf16(values + first + i, absmax[row], static_cast<std::uint16_t*>(to) + i, n);
    else
      kernels_.int8_to_f32(values + first + i, absmax[row], rounded_, static_cast<float*>(to) + i, n);
    i += n;
  }
}

const float* WeightPanels::code() const {
  const bool nf4 = weight_.format == WeightFormat::nf4 || weight_.format == WeightFormat::nf4_single;
  return nf4 ? nf4_code.data() : fp4_code.data();
}

void WeightPanels::expand_half(std::int64_t first, std::int64_t count, void* to) const {
  const std::uint16_t* from = weight_.values.view().as<std::uint16_t>() + first;
  if (weight_.format == WeightFormat::bf16) return kernels_.bf16_to_f32(from, static_cast<float*>(to), count);
  float values[piece_values];
  for (std::int64_t i = 0; i < count; i += piece_values) {
    const std::int64_t n = std::min(piece_values, count - i);
    kernels_.f16_to_f32(from + i, values, n);
    if (product_ == DType::bf16) {
      kernels_.f32_to_bf16(values, static_cast<std::uint16_t*>(to) + i, n);
    } else if (rounded_) {
      kernels_.round_f32(values, static_cast<float*>(to) + i, n);
    } else {
      std::memcpy(static_cast<float*>(to) + i, values, static_cast<std::size_t>(n) * sizeof(float));
    }
  }
}

/// Whole blocks go straight to their place; a block that is cut by either end goes through a buffer.
void WeightPanels::expand_four_bit(std::int64_t first, std::int64_t count, void* to) const {
  const std::int64_t last = first + count;
  for (std::int64_t at = first; at < last;) {
    std::int64_t n = at % nf4_block == 0 ? (last - at) / nf4_block * nf4_block : 0;
    if (n > 0) {
      expand_blocks(at / nf4_block, 1, 0, n / nf4_block, advance(to, at - first), 0);
    } else {
      n = std::min(nf4_block - at % nf4_block, last - at);
      expand_part_of_block(at, n, advance(to, at - first));
    }
    at += n;
  }
}

void WeightPanels::expand_part_of_block(std::int64_t first, std::int64_t count, void* to) const {
  const std::int64_t block = first / nf4_block;
  const std::int64_t elements = std::min(nf4_block, weight_.out * weight_.in - block * nf4_block);
  std::uint8_t bytes[nf4_block / 2] = {};  // the last block of the tensor may be short, and so are its bytes
  std::memcpy(bytes, weight_.values.view().as<std::uint8_t>() + block * nf4_block / 2,
              static_cast<std::size_t>((elements + 1) / 2));
  float absmax = 0;
  decode_absmax(block, 1, &absmax);
  alignas(64) float values[nf4_block];
  expand_codes({bytes, 0, &absmax, 1, 1, code()}, values, 0);
  std::memcpy(to, advance(values, first - block * nf4_block),
              static_cast<std::size_t>(count) * size_of(product_));
}

void WeightPanels::expand_blocks(std::int64_t block, std::int64_t rows, std::int64_t row_blocks,
                                 std::int64_t blocks, void* to, std::int64_t leading) const {
  const std::uint8_t* packed = weight_.values.view().as<std::uint8_t>() + block * nf4_block / 2;
  const std::int64_t stride = row_blocks * nf4_block / 2;
  if (rows > 1 && blocks > piece_blocks) {  // not made by tiles, which are narrower
    for (std::int64_t row = 0; row < rows; ++row) {
      expand_blocks(block + row * row_blocks, 1, 0, blocks, advance(to, row * leading), 0);
    }
    return;
  }
  float absmax[piece_blocks];
  const std::int64_t row_step = std::max<std::int64_t>(1, piece_blocks / blocks);
  const std::int64_t block_step = std::min(piece_blocks, blocks);
  for (std::int64_t row = 0; row < rows; row += row_step) {
    const std::int64_t row_count = std::min(row_step, rows - row);
    for (std::int64_t i = 0; i < blocks; i += block_step) {
      const std::int64_t count = std::min(block_step, blocks - i);
      for (std::int64_t r = 0; r < row_count; ++r) {
        decode_absmax(block + (row + r) * row_blocks + i, count, absmax + r * count);
      }
      expand_codes({packed + row * stride + i * nf4_block / 2, stride, absmax, row_count, count, code()},
                   advance(to, row * leading + i * nf4_block), leading);
    }
  }
}

void WeightPanels::expand_codes(const FourBitRows& from, void* to, std::int64_t leading) const {
  if (product_ == DType::bf16)
    return kernels_.four_bit_to_bf16(from, static_cast<std::uint16_t*>(to), leading);
  kernels_.four_bit_to_f32(from, rounded_, static_cast<float*>(to), leading);
}

void WeightPanels::decode_absmax(std::int64_t block, std::int64_t blocks, float* to) const {
  if (!is_nested(weight_.format)) {
    std::memcpy(to, weight_.absmax.view().as<float>() + block,
                static_cast<std::size_t>(blocks) * sizeof(float));
    return;
  }
  const std::uint8_t* codes = weight_.absmax.view().as<std::uint8_t>();
  const float* nested = weight_.nested_absmax.view().as<float>();
  for (std::int64_t i = 0; i < blocks;) {
    const std::int64_t group = (block + i) / nf4_nested_block;
    const std::int64_t n = std::min(blocks - i, (group + 1) * nf4_nested_block - (block + i));
    kernels_.decode_absmax(codes + block + i, signed_dynamic_map().data(), nested[group],
                           weight_.nested_offset, to + i, n);
    i += n;
  }
}

}  // namespace lorikeet
