// SPDX-License-Identifier: Apache-2.0
#include "kernels/weight.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/base/half.h"
#include "kernels/fp4.h"
#include "kernels/int8.h"
#include "kernels/nf4.h"

namespace lorikeet {

namespace {

constexpr std::int64_t piece_elements = std::int64_t{1} << 20;  // 4 MiB of f32
constexpr std::int64_t task_elements = std::int64_t{1} << 14;   // what one thread takes at a time

std::int64_t checked_elements(std::int64_t out, std::int64_t in) {
  if (out <= 0 || in <= 0 || out > std::numeric_limits<std::int64_t>::max() / 16 / in) {
    throw Error(ErrorCode::invalid_argument, "A weight matrix cannot have the shape (" + std::to_string(out) +
                                                 ", " + std::to_string(in) + ")");
  }
  return out * in;
}

[[noreturn]] void refuse_value(const std::string& name, std::int64_t element, std::int64_t in,
                               const char* why) {
  throw Error(ErrorCode::numeric, std::string("A weight is ") + why,
              name + ", row " + std::to_string(element / in) + ", column " + std::to_string(element % in),
              "Use an undamaged copy of the model");
}

/// Position of the first value whose magnitude is not at most `largest` (NaN included), or -1.
std::int64_t first_beyond(std::span<const float> values, float largest) {
  const auto count = static_cast<std::int64_t>(values.size());
  std::int64_t found = count;
#pragma omp parallel for reduction(min : found)
  for (std::int64_t first = 0; first < count; first += task_elements) {
    const std::int64_t last = std::min(count, first + task_elements);
    for (std::int64_t i = first; i < last; ++i) {
      if (std::fabs(values[static_cast<std::size_t>(i)]) <= largest) continue;
      found = std::min(found, i);
      break;
    }
  }
  return found == count ? -1 : found;
}

/// Elements [first, first + count) of a flat tensor.
TensorView part(const Tensor& tensor, std::int64_t first, std::int64_t count) {
  return tensor.view().reshaped({tensor.view().elements()}).row_range(first, count);
}

Tensor borrowed(const TensorView& view) {
  static struct : DeviceMemory {
    void deallocate(void*, std::size_t) noexcept override {}
  } lender;
  return view ? Tensor(&lender, view) : Tensor();
}

class Builder {
 public:
  Builder(Backend& backend, Weight& weight, const std::string& name)
      : backend_(backend), weight_(weight), name_(name), elements_(weight.out * weight.in) {}

  void build(const ElementReader& read) {
    // int8 wants whole rows
    const std::int64_t piece_size = weight_.format == WeightFormat::int8
                                        ? std::max<std::int64_t>(1, piece_elements / weight_.in) * weight_.in
                                        : piece_elements;
    std::vector<float> piece(static_cast<std::size_t>(std::min(piece_size, elements_)));
    bytes_.resize(piece.size() * 2);
    if (is_four_bit(weight_.format)) absmax_.resize(static_cast<std::size_t>(nf4_blocks(elements_)));
    for (std::int64_t first = 0; first < elements_; first += piece_size) {
      const auto count = static_cast<std::size_t>(std::min(piece_size, elements_ - first));
      const std::span<float> values(piece.data(), count);
      read(first, values);
      check_values(first, values);
      store(first, values);
    }
    if (is_four_bit(weight_.format)) store_absmax();
  }

 private:
  void check_values(std::int64_t first, std::span<const float> values) const {
    const std::int64_t bad = first_beyond(values, std::numeric_limits<float>::max());
    if (bad >= 0) refuse_value(name_, first + bad, weight_.in, "not a finite number");
    if (weight_.format != WeightFormat::f16 && weight_.format != WeightFormat::bf16) return;
    // the largest f32 that does not round to infinity
    const float limit = weight_.format == WeightFormat::f16 ? 0x1.ffdffep15f : 0x1.fefffep127f;
    const std::int64_t large = first_beyond(values, limit);
    if (large >= 0) refuse_value(name_, first + large, weight_.in, "too large for 16 bits");
  }

  void store(std::int64_t first, std::span<const float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    switch (weight_.format) {
      case WeightFormat::f32:
        backend_.upload(part(weight_.values, first, count), values.data());
        return;
      case WeightFormat::bf16:
        convert(values, [](float value) { return f32_to_bf16(value); });
        break;
      case WeightFormat::f16:
        convert(values, [](float value) { return f32_to_f16(value); });
        break;
      case WeightFormat::nf4:
      case WeightFormat::nf4_single:
      case WeightFormat::fp4:
      case WeightFormat::fp4_single: {
        quantize(first, values);
        backend_.upload(part(weight_.values, first / 2, (count + 1) / 2), bytes_.data());
        return;
      }
      case WeightFormat::int8:
        quantize_rows(first / weight_.in, values);
        break;
    }
    backend_.upload(part(weight_.values, first, count), bytes_.data());
  }

  template <typename Round>
  void convert(std::span<const float> values, Round round) {
    auto* out = reinterpret_cast<std::uint16_t*>(bytes_.data());
    const auto count = static_cast<std::int64_t>(values.size());
#pragma omp parallel for
    for (std::int64_t i = 0; i < count; ++i) out[i] = round(values[static_cast<std::size_t>(i)]);
  }

  void quantize(std::int64_t first, std::span<const float> values) {
    const auto count = static_cast<std::int64_t>(values.size());
    const bool fp4 = weight_.format == WeightFormat::fp4 || weight_.format == WeightFormat::fp4_single;
    const auto encode = fp4 ? fp4_quantize : nf4_quantize;
#pragma omp parallel for
    for (std::int64_t begin = 0; begin < count; begin += task_elements) {
      const auto size = static_cast<std::size_t>(std::min(task_elements, count - begin));
      encode(values.subspan(static_cast<std::size_t>(begin), size), bytes_.data() + begin / 2,
             absmax_.data() + (first + begin) / nf4_block);
    }
  }

  void quantize_rows(std::int64_t first_row, std::span<const float> values) {
    const std::int64_t rows = static_cast<std::int64_t>(values.size()) / weight_.in;
    std::vector<float> absmax(static_cast<std::size_t>(rows));
    auto* codes = reinterpret_cast<std::int8_t*>(bytes_.data());
#pragma omp parallel for
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto width = static_cast<std::size_t>(weight_.in);
      absmax[static_cast<std::size_t>(row)] = int8_quantize_row(
          values.subspan(static_cast<std::size_t>(row) * width, width), codes + row * weight_.in);
    }
    backend_.upload(part(weight_.absmax, first_row, rows), absmax.data());
  }

  void store_absmax() {
    if (!is_nested(weight_.format)) return backend_.upload(weight_.absmax, absmax_.data());
    const NestedAbsmax nested = nest_absmax(absmax_);
    backend_.upload(weight_.absmax, nested.codes.data());
    backend_.upload(weight_.nested_absmax, nested.nested_absmax.data());
    weight_.nested_offset = nested.offset;
  }

  Backend& backend_;
  Weight& weight_;
  const std::string& name_;
  const std::int64_t elements_;
  std::vector<std::uint8_t> bytes_;
  std::vector<float> absmax_;
};

}  // namespace

const char* to_string(WeightFormat format) {
  switch (format) {
    case WeightFormat::f32:
      return "f32";
    case WeightFormat::bf16:
      return "bf16";
    case WeightFormat::f16:
      return "f16";
    case WeightFormat::nf4:
      return "nf4";
    case WeightFormat::nf4_single:
      return "nf4-single";
    case WeightFormat::fp4:
      return "fp4";
    case WeightFormat::fp4_single:
      return "fp4-single";
    case WeightFormat::int8:
      return "int8";
  }
  return "unknown";
}

std::size_t Weight::bytes() const {
  return values.view().bytes() + absmax.view().bytes() + nested_absmax.view().bytes() + bias.view().bytes();
}

Weight without_bias(const Weight& weight) {
  Weight bare;
  bare.format = weight.format;
  bare.out = weight.out;
  bare.in = weight.in;
  bare.values = borrowed(weight.values.view());
  bare.absmax = borrowed(weight.absmax.view());
  bare.nested_absmax = borrowed(weight.nested_absmax.view());
  bare.nested_offset = weight.nested_offset;
  return bare;
}

bool is_row_boundary(WeightFormat format, std::int64_t in, std::int64_t first) {
  const std::int64_t blocks_together = is_nested(format) ? nf4_nested_block : 1;
  return !is_four_bit(format) || first * in % (nf4_block * blocks_together) == 0;
}

Weight rows_of(const Weight& weight, std::int64_t first, std::int64_t count) {
  if (first < 0 || count < 1 || count > weight.out - first ||
      !is_row_boundary(weight.format, weight.in, first))
    throw Error(ErrorCode::invalid_argument, "The weight has no such rows to lend");
  const std::int64_t before = first * weight.in, elements = count * weight.in;
  Weight rows;
  rows.format = weight.format;
  rows.out = count;
  rows.in = weight.in;
  rows.nested_offset = weight.nested_offset;
  if (weight.bias) rows.bias = borrowed(part(weight.bias, first, count));
  if (!is_four_bit(weight.format)) {
    rows.values = borrowed(weight.values.view().row_range(first, count));
    if (weight.absmax) rows.absmax = borrowed(part(weight.absmax, first, count));
    return rows;
  }
  const std::int64_t first_block = before / nf4_block, blocks = nf4_blocks(elements);
  rows.values = borrowed(part(weight.values, before / 2, (elements + 1) / 2));
  rows.absmax = borrowed(part(weight.absmax, first_block, blocks));
  if (weight.nested_absmax) {
    rows.nested_absmax = borrowed(part(weight.nested_absmax, first_block / nf4_nested_block,
                                       (blocks + nf4_nested_block - 1) / nf4_nested_block));
  }
  return rows;
}

std::size_t weight_bytes(WeightFormat format, std::int64_t out, std::int64_t in) {
  const std::int64_t elements = checked_elements(out, in);
  const std::int64_t blocks = nf4_blocks(elements);
  std::int64_t bytes = 0;
  switch (format) {
    case WeightFormat::f32:
      bytes = elements * 4;
      break;
    case WeightFormat::bf16:
    case WeightFormat::f16:
      bytes = elements * 2;
      break;
    case WeightFormat::nf4:
    case WeightFormat::fp4:
      bytes = (elements + 1) / 2 + blocks + 4 * nf4_nested_blocks(blocks);
      break;
    case WeightFormat::nf4_single:
    case WeightFormat::fp4_single:
      bytes = (elements + 1) / 2 + 4 * blocks;
      break;
    case WeightFormat::int8:
      bytes = elements + 4 * out;
      break;
  }
  return static_cast<std::size_t>(bytes);
}

Weight make_weight(Backend& backend, WeightFormat format, std::int64_t out, std::int64_t in,
                   const ElementReader& read, const std::string& name) {
  const std::int64_t elements = checked_elements(out, in);
  const std::int64_t blocks = nf4_blocks(elements);
  Weight weight;
  weight.format = format;
  weight.out = out;
  weight.in = in;
  switch (format) {
    case WeightFormat::f32:
      weight.values = backend.allocate({out, in}, DType::f32);
      break;
    case WeightFormat::bf16:
      weight.values = backend.allocate({out, in}, DType::bf16);
      break;
    case WeightFormat::f16:
      weight.values = backend.allocate({out, in}, DType::f16);
      break;
    case WeightFormat::nf4:
    case WeightFormat::fp4:
      weight.values = backend.allocate({(elements + 1) / 2}, DType::u8);
      weight.absmax = backend.allocate({blocks}, DType::u8);
      weight.nested_absmax = backend.allocate({nf4_nested_blocks(blocks)}, DType::f32);
      break;
    case WeightFormat::nf4_single:
    case WeightFormat::fp4_single:
      weight.values = backend.allocate({(elements + 1) / 2}, DType::u8);
      weight.absmax = backend.allocate({blocks}, DType::f32);
      break;
    case WeightFormat::int8:
      weight.values = backend.allocate({out, in}, DType::i8);
      weight.absmax = backend.allocate({out}, DType::f32);
      break;
  }
  Builder(backend, weight, name).build(read);
  return weight;
}

}  // namespace lorikeet
