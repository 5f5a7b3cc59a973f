// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/small_product.h"

#include <algorithm>

#include "kernels/nf4.h"

namespace lorikeet {

namespace {

constexpr std::int64_t lanes = 16;
// Rows of x that a power of two lies between would fall on the same few places of that cache.
constexpr std::int64_t x_padding = 32;

}  // namespace

SmallProduct::SmallProduct(const LinearKernels& kernels, const Weight& weight, DType compute, DType product,
                           std::int64_t rows)
    : kernels_(kernels),
      weight_(weight),
      panels_(kernels, weight, compute, product),
      compute_(compute),
      rows_(rows) {
  const bool four_bit = is_four_bit(weight.format);
  if (four_bit && weight.in % nf4_block == 0) {
    path_ = Path::blocks;
  } else if (four_bit || weight.format == WeightFormat::int8) {
    path_ = Path::panel;
  } else {
    path_ = Path::dense;
  }
  const bool bf16_weights = weight.format != WeightFormat::f32;  // 4 and 8 bits too, once they are in a panel
  x_type_ = product == DType::bf16 && bf16_weights ? DType::bf16 : DType::f32;
}

bool SmallProduct::serves(const Weight& weight, DType product, std::int64_t rows) {
  const bool bf16 = product == DType::bf16;
  switch (weight.format) {
    case WeightFormat::nf4:
    case WeightFormat::nf4_single:
    case WeightFormat::fp4:
    case WeightFormat::fp4_single:
    case WeightFormat::int8:
      return rows <= (bf16 ? 24 : 8);
    case WeightFormat::bf16:
    case WeightFormat::f16:
      return rows <= (bf16 ? 12 : 4);
    case WeightFormat::f32:
      return rows <= 2;
  }
  return false;
}

std::int64_t SmallProduct::x_bytes() const {
  if (path_ != Path::blocks && x_type_ == compute_) return 0;
  const std::int64_t copies = path_ == Path::blocks && x_type_ != compute_ ? 2 : 1;  // converted, then split
  return copies * rows_ * (weight_.in + x_padding) * static_cast<std::int64_t>(size_of(x_type_));
}

void SmallProduct::place_x(TensorView x, void* memory) {
  const std::int64_t width = weight_.in;
  x_ = x.data;
  x_stride_ = width;
  if (x_type_ != compute_) {
    float* converted = static_cast<float*>(memory);
    kernels_.bf16_to_f32(x.as<std::uint16_t>(), converted, x.elements());
    x_ = converted;
    memory = converted + rows_ * (width + x_padding);
  }
  if (path_ != Path::blocks) return;
  x_stride_ = width + x_padding;
  for (std::int64_t row = 0; row < rows_; ++row) {
    if (x_type_ == DType::bf16) {
      kernels_.split_bf16(static_cast<const std::uint16_t*>(x_) + row * width,
                          static_cast<std::uint16_t*>(memory) + row * x_stride_, width);
    } else {
      kernels_.split_f32(static_cast<const float*>(x_) + row * width,
                         static_cast<float*>(memory) + row * x_stride_, width);
    }
  }
  x_ = memory;
}

std::int64_t SmallProduct::buffer_bytes() const {
  const std::int64_t panel = path_ == Path::panel ? group * weight_.in : 0;
  const std::int64_t absmax = path_ == Path::blocks ? group * weight_.in / nf4_block : 0;
  return (group * rows_at_once * lanes + rows_at_once * group + absmax + panel) * 4;
}

void SmallProduct::make_group(std::int64_t i, std::span<const Term> terms, bool accumulate, TensorView y,
                              void* buffer) const {
  const std::int64_t first = i * group;
  const std::int64_t count = std::min(group, weight_.out - first);
  float* lane_sums = static_cast<float*>(buffer);
  float* sums = lane_sums + group * rows_at_once * lanes;
  const void* weights = read_weights(first, count, sums + rows_at_once * group);
  const float* bias = weight_.bias ? weight_.bias.view().as<float>() + first : nullptr;
  for (std::int64_t row = 0; row < rows_; row += rows_at_once) {
    const std::int64_t rows = std::min(rows_at_once, rows_ - row);
    multiply(weights, first, count, row, rows, lane_sums);
    for (const Term& term : terms) {
      kernels_.f32_dot_f32({term.right + first * term.depth, count, term.depth, term.left + row * term.depth,
                            term.depth, rows},
                           term.scale, compute_ == DType::bf16, true, lane_sums);
    }
    kernels_.add_lanes(lane_sums, count, rows, sums);
    for (std::int64_t j = 0; j < rows; ++j) {
      const std::int64_t at = (row + j) * weight_.out + first;
      if (y.dtype == DType::bf16) {
        kernels_.finish_bf16(sums + j * lanes, bias, accumulate, y.as<std::uint16_t>() + at, count);
      } else {
        kernels_.finish_f32(sums + j * lanes, bias, accumulate, y.as<float>() + at, count);
      }
    }
  }
}

/// What multiply() needs of rows [first, first + count) of W: decoded absmax, a panel, or the weights where
/// they lie.
const void* SmallProduct::read_weights(std::int64_t first, std::int64_t count, float* buffer) const {
  if (path_ == Path::panel) return panels_.rows(first, count, buffer).data;
  if (path_ == Path::blocks) {
    const std::int64_t blocks = weight_.in / nf4_block;
    panels_.decode_absmax(first * blocks, count * blocks, buffer);
    return buffer;
  }
  const auto size = static_cast<std::int64_t>(size_of(weight_.values.dtype()));
  return weight_.values.view().as<char>() + first * weight_.in * size;
}

void SmallProduct::multiply(const void* weights, std::int64_t first, std::int64_t count, std::int64_t row,
                            std::int64_t rows, float* lane_sums) const {
  const char* x =
      static_cast<const char*>(x_) + row * x_stride_ * static_cast<std::int64_t>(size_of(x_type_));
  const DotOperands operands{weights, count, weight_.in, x, x_stride_, rows};
  const bool rounded = compute_ == DType::bf16;
  if (path_ == Path::blocks) {
    const FourBitRows from{weight_.values.view().as<std::uint8_t>() + first * weight_.in / 2,
                           weight_.in / 2,
                           static_cast<const float*>(weights),
                           count,
                           weight_.in / nf4_block,
                           panels_.code()};
    if (x_type_ == DType::bf16) return kernels_.four_bit_dot_bf16(from, operands, lane_sums);
    return kernels_.four_bit_dot_f32(from, operands, rounded, lane_sums);
  }
  const WeightFormat format = weight_.format;
  if (x_type_ == DType::bf16) {
    if (format == WeightFormat::f16) return kernels_.f16_dot_bf16(operands, lane_sums);
    return kernels_.bf16_dot_bf16(operands, lane_sums);
  }
  if (format == WeightFormat::f16) return kernels_.f16_dot_f32(operands, rounded, lane_sums);
  if (format == WeightFormat::bf16) return kernels_.bf16_dot_f32(operands, lane_sums);
  kernels_.f32_dot_f32(operands, 1, rounded, false, lane_sums);
}

}  // namespace lorikeet
