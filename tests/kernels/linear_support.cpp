// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/linear_support.h"

#include <vector>

#include "kernels/cpu/cpu_info.h"
#include "kernels/fp4.h"
#include "kernels/int8.h"
#include "kernels/nf4.h"

namespace lorikeet::testing {

namespace {

std::vector<float> floats_of(Backend& backend, const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  backend.download(values.data(), view);
  return values;
}

Values four_bit_values(Backend& backend, const Weight& weight) {
  const std::vector<std::uint8_t> packed = read_bytes(backend, weight.values);
  std::vector<float> absmax(static_cast<std::size_t>(nf4_blocks(weight.out * weight.in)));
  if (!is_nested(weight.format)) {
    absmax = floats_of(backend, weight.absmax);
  } else {
    const std::vector<std::uint8_t> codes = read_bytes(backend, weight.absmax);
    const std::vector<float> nested = floats_of(backend, weight.nested_absmax);
    decode_absmax(codes.data(), nested.data(), weight.nested_offset, 0, absmax);
  }
  std::vector<float> values(static_cast<std::size_t>(weight.out * weight.in));
  const bool nf4 = weight.format == WeightFormat::nf4 || weight.format == WeightFormat::nf4_single;
  (nf4 ? nf4_dequantize : fp4_dequantize)(packed.data(), absmax.data(), 0, values);
  return {values.begin(), values.end()};
}

Values int8_values(Backend& backend, const Weight& weight) {
  const std::vector<std::uint8_t> bytes = read_bytes(backend, weight.values);
  const std::vector<float> absmax = floats_of(backend, weight.absmax);
  const auto width = static_cast<std::size_t>(weight.in);
  std::vector<float> values(bytes.size());
  for (std::size_t row = 0; row < absmax.size(); ++row) {
    const auto* codes = reinterpret_cast<const std::int8_t*>(bytes.data()) + row * width;
    int8_dequantize_row(codes, absmax[row], std::span(values).subspan(row * width, width));
  }
  return {values.begin(), values.end()};
}

}  // namespace

Weight random_weight(Backend& backend, WeightFormat format, std::int64_t out, std::int64_t in,
                     std::uint64_t seed, bool with_bias) {
  const Values values = random_values(out * in, seed, 0.1);
  const auto read = [&values](std::int64_t first, std::span<float> to) {
    for (std::size_t i = 0; i < to.size(); ++i)
      to[i] = static_cast<float>(values[static_cast<std::size_t>(first) + i]);
  };
  Weight weight = make_weight(backend, format, out, in, read, "w");
  if (with_bias) weight.bias = make_tensor(backend, {out}, DType::f32, random_values(out, seed + 1));
  return weight;
}

Values values_of(Backend& backend, const Weight& weight, DType compute) {
  if (is_four_bit(weight.format)) return rounded(four_bit_values(backend, weight), compute);
  if (weight.format == WeightFormat::int8) return rounded(int8_values(backend, weight), compute);
  return rounded(read_back(backend, weight.values), compute);
}

Indices random_keys(std::int64_t rows, std::uint64_t seed) {
  RandomStream random({.seed = seed, .use = RandomUse::token});
  Indices keys(static_cast<std::size_t>(2 * rows));
  for (std::int32_t& half : keys) half = static_cast<std::int32_t>(random.next_bits());
  return keys;
}

Tensor make_keys(Backend& backend, const Indices& keys) {
  Tensor tensor = backend.allocate({static_cast<std::int64_t>(keys.size() / 2), 2}, DType::i32);
  backend.upload(tensor, keys.data());
  return tensor;
}

std::uint32_t word_of(const Indices& keys, std::int64_t row, RandomUse use, std::uint32_t place,
                      std::int64_t column) {
  const auto half = [&](std::int64_t i) {
    return std::uint64_t{static_cast<std::uint32_t>(keys[static_cast<std::size_t>(2 * row + i)])};
  };
  return drawn_word(half(1) << 32 | half(0), use, place, static_cast<std::uint64_t>(column));
}

Values dropout_mask(const Indices& keys, std::int64_t columns, float probability, std::uint32_t place) {
  Values mask;
  if (probability == 0) return mask;
  for (std::int64_t row = 0; row < static_cast<std::int64_t>(keys.size() / 2); ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::uint32_t word = word_of(keys, row, RandomUse::dropout, place, column);
      const bool stays = word >= dropout_threshold(probability);
      mask.push_back(stays ? 1 / (1 - static_cast<double>(probability)) : 0);
    }
  }
  return mask;
}

bool isa_is_missing(std::string& why) {
  try {
    chosen_isa();
    return false;
  } catch (const Error& error) {
    why = error.what();
    return true;
  }
}

}  // namespace lorikeet::testing
