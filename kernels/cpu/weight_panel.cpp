// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/weight_panel.h"

#include <algorithm>
#include <cstring>

#include "kernels/nf4.h"

namespace lorikeet {

namespace {

constexpr std::int64_t piece_blocks = 64;   // blocks whose absmax are decoded at once
constexpr std::int64_t piece_values = 512;  // values converted through f32 at once

bool is_nf4(const Weight& weight) {
  return weight.format == WeightFormat::nf4 || weight.format == WeightFormat::nf4_single;
}

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

Panel WeightPanels::columns(std::int64_t first, std::int64_t count, std::int64_t leading, void* buffer) const {
  const std::int64_t width = weight_.in;
  if (direct_) return {advance(weight_.values.view().data, first), width};
  for (std::int64_t row = 0; row < weight_.out; ++row) {
    expand(row * width + first, count, advance(buffer, row * leading));
  }
  return {buffer, leading};
}

void* WeightPanels::advance(void* to, std::int64_t elements) const {
  return static_cast<char*>(to) + elements * static_cast<std::int64_t>(size_of(product_));
}

void WeightPanels::expand(std::int64_t first, std::int64_t count, void* to) const {
  if (is_nf4(weight_)) return expand_nf4(first, count, to);
  if (weight_.format == WeightFormat::f32) {
    const float* from = weight_.values.view().as<float>() + first;
    if (product_ == DType::bf16) return kernels_.f32_to_bf16(from, static_cast<std::uint16_t*>(to), count);
    return kernels_.round_f32(from, static_cast<float*>(to), count);
  }
  expand_half(first, count, to);
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
void WeightPanels::expand_nf4(std::int64_t first, std::int64_t count, void* to) const {
  const std::int64_t last = first + count;
  for (std::int64_t at = first; at < last;) {
    const std::int64_t block = at / nf4_block;
    const std::int64_t whole = at % nf4_block == 0 ? (last - at) / nf4_block : 0;
    if (whole > 0) {
      expand_blocks(block, whole, advance(to, at - first));
      at += whole * nf4_block;
      continue;
    }
    alignas(64) float values[nf4_block];
    const std::int64_t skipped = at - block * nf4_block;
    const std::int64_t n = std::min(nf4_block - skipped, last - at);
    if (weight_.out * weight_.in >= (block + 1) * nf4_block) {
      expand_blocks(block, 1, values);
    } else {  // the last block of the tensor may be short, and so are its bytes
      std::uint8_t bytes[nf4_block / 2] = {};
      const std::int64_t left = weight_.out * weight_.in - block * nf4_block;
      std::memcpy(bytes, weight_.values.view().as<std::uint8_t>() + block * nf4_block / 2,
                  static_cast<std::size_t>((left + 1) / 2));
      expand_bytes(bytes, block, 1, values);
    }
    std::memcpy(advance(to, at - first), advance(values, skipped), static_cast<std::size_t>(n) * size_of(product_));
    at += n;
  }
}

void WeightPanels::expand_blocks(std::int64_t block, std::int64_t blocks, void* to) const {
  for (std::int64_t i = 0; i < blocks; i += piece_blocks) {
    expand_bytes(weight_.values.view().as<std::uint8_t>() + (block + i) * nf4_block / 2, block + i,
                 std::min(piece_blocks, blocks - i), advance(to, i * nf4_block));
  }
}

void WeightPanels::expand_bytes(const std::uint8_t* packed, std::int64_t block, std::int64_t blocks, void* to) const {
  float absmax[piece_blocks];
  const float* scales = absmax;
  if (weight_.format == WeightFormat::nf4_single) {
    scales = weight_.absmax.view().as<float>() + block;
  } else {
    decode_absmax(weight_.absmax.view().as<std::uint8_t>(), weight_.nested_absmax.view().as<float>(),
                  weight_.nested_offset, block, {absmax, static_cast<std::size_t>(blocks)});
  }
  if (product_ == DType::bf16) return kernels_.nf4_to_bf16(packed, scales, blocks, static_cast<std::uint16_t*>(to));
  kernels_.nf4_to_f32(packed, scales, blocks, rounded_, static_cast<float*>(to));
}

}  // namespace lorikeet
