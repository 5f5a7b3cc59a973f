// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/op_support.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "kernels/base/half.h"
#include "kernels/base/random.h"

namespace lorikeet::testing {

namespace {

template <typename T, typename Convert>
std::vector<std::uint8_t> pack(const Values& values, const Convert& convert) {
  std::vector<std::uint8_t> bytes(values.size() * sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = convert(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T, typename Convert>
Values unpack(const std::vector<std::uint8_t>& bytes, const Convert& convert) {
  Values values(bytes.size() / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    values[i] = convert(value);
  }
  return values;
}

std::vector<std::uint8_t> to_bytes(const Values& values, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return pack<double>(values, [](double v) { return v; });
    case DType::f32:
      return pack<float>(values, [](double v) { return static_cast<float>(v); });
    case DType::f16:
      return pack<std::uint16_t>(values, [](double v) { return f32_to_f16(static_cast<float>(v)); });
    case DType::bf16:
      return pack<std::uint16_t>(values, [](double v) { return f32_to_bf16(static_cast<float>(v)); });
    case DType::i32:
      return pack<std::int32_t>(values, [](double v) { return static_cast<std::int32_t>(v); });
    case DType::u8:
      return pack<std::uint8_t>(values, [](double v) { return static_cast<std::uint8_t>(v); });
    case DType::i8:
      return pack<std::int8_t>(values, [](double v) { return static_cast<std::int8_t>(v); });
  }
  return {};
}

Values from_bytes(const std::vector<std::uint8_t>& bytes, DType dtype) {
  switch (dtype) {
    case DType::f64:
      return unpack<double>(bytes, [](double v) { return v; });
    case DType::f32:
      return unpack<float>(bytes, [](float v) { return static_cast<double>(v); });
    case DType::f16:
      return unpack<std::uint16_t>(bytes, [](std::uint16_t v) { return static_cast<double>(f16_to_f32(v)); });
    case DType::bf16:
      return unpack<std::uint16_t>(bytes,
                                   [](std::uint16_t v) { return static_cast<double>(bf16_to_f32(v)); });
    case DType::i32:
      return unpack<std::int32_t>(bytes, [](std::int32_t v) { return static_cast<double>(v); });
    case DType::u8:
      return unpack<std::uint8_t>(bytes, [](std::uint8_t v) { return static_cast<double>(v); });
    case DType::i8:
      return unpack<std::int8_t>(bytes, [](std::int8_t v) { return static_cast<double>(v); });
  }
  return {};
}

}  // namespace

Values random_values(std::int64_t count, std::uint64_t seed, double scale) {
  RandomStream stream({.seed = seed, .use = RandomUse::test});
  Values values(static_cast<std::size_t>(count));
  for (double& value : values) value = scale * stream.next_normal();
  return values;
}

Indices random_indices(std::int64_t count, std::int64_t bound, std::uint64_t seed) {
  RandomStream stream({.seed = seed, .use = RandomUse::test});
  Indices values(static_cast<std::size_t>(count));
  for (std::int32_t& value : values) {
    value = static_cast<std::int32_t>(stream.next_below(static_cast<std::uint64_t>(bound)));
  }
  return values;
}

Values rounded(Values values, DType dtype) {
  return from_bytes(to_bytes(values, dtype), dtype);
}

Tensor make_tensor(Backend& backend, Shape shape, DType dtype, const Values& values) {
  Tensor tensor = backend.allocate(shape, dtype);
  if (static_cast<std::int64_t>(values.size()) != shape.elements()) {
    throw Error(ErrorCode::invalid_argument, "make_tensor: another number of values than elements");
  }
  backend.upload(tensor, to_bytes(values, dtype).data());
  return tensor;
}

Tensor make_indices(Backend& backend, const Indices& values) {
  Tensor tensor = backend.allocate({static_cast<std::int64_t>(values.size())}, DType::i32);
  backend.upload(tensor, values.data());
  return tensor;
}

Tensor make_poisoned(Backend& backend, Shape shape, DType dtype) {
  if (size_of(dtype) > 1 && dtype != DType::i32) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return make_tensor(backend, shape, dtype, Values(static_cast<std::size_t>(shape.elements()), nan));
  }
  Tensor tensor = backend.allocate(shape, dtype);
  const std::vector<std::uint8_t> bytes(tensor.view().bytes(), 0xee);
  backend.upload(tensor, bytes.data());
  return tensor;
}

std::vector<std::uint8_t> read_bytes(Backend& backend, const TensorView& view) {
  std::vector<std::uint8_t> bytes(view.bytes());
  backend.download(bytes.data(), view);
  return bytes;
}

Values read_back(Backend& backend, const TensorView& view) {
  return from_bytes(read_bytes(backend, view), view.dtype);
}

WideTensor make_wide(Backend& backend, Shape shape, DType dtype, const Values& values, std::int64_t before,
                     std::int64_t after) {
  const std::int64_t width = shape.elements() / shape[0];
  const std::int64_t stride = before + width + after;
  Values all(static_cast<std::size_t>(shape[0] * stride), std::numeric_limits<double>::quiet_NaN());
  for (std::int64_t row = 0; row < shape[0]; ++row)
    std::copy_n(values.begin() + row * width, width, all.begin() + row * stride + before);
  WideTensor wide{make_tensor(backend, {shape[0], stride}, dtype, all), {}};
  wide.view = wide.buffer.view().column_range(before, width).reshaped(shape);
  return wide;
}

Values read_wide(Backend& backend, const WideTensor& wide) {
  const Values all = read_back(backend, wide.buffer);
  const std::int64_t stride = wide.buffer.view().columns();
  const std::int64_t width = wide.view.columns();
  const std::int64_t before = (wide.view.as<char>() - wide.buffer.view().as<char>()) /
                              static_cast<std::int64_t>(size_of(wide.view.dtype));
  Values values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::int64_t column = static_cast<std::int64_t>(i) % stride - before;
    if (column >= 0 && column < width)
      values.push_back(all[i]);
    else if (!std::isnan(all[i]))
      throw Error(ErrorCode::numeric, "A gap between rows was written");
  }
  return values;
}

Tolerance tolerance_for(DType dtype, std::int64_t terms) {
  const double rounding = 0x1p-23 * std::sqrt(static_cast<double>(std::max<std::int64_t>(terms, 1)));
  if (dtype == DType::f32) return {1e-6, 2e-6, 4 * rounding};
  if (dtype == DType::f16) return {1e-6, 0x1p-11, 0x1p-12 + 4 * rounding};
  return {1e-6, 0x1p-8, 0x1p-9 + 4 * rounding};
}

Tolerance attention_tolerance(DType dtype, std::int64_t terms) {
  // Absolute: a gradient may be the difference of products of size 1, as with a window of one token.
  if (dtype == DType::f32) return {1e-5, 1e-5, 8 * 0x1p-23 * std::sqrt(static_cast<double>(terms))};
  // Probabilities and their gradients are rounded to the compute type for the products.
  if (dtype == DType::f16) return {2e-4, 0x1p-10, 0x1p-10};
  return {1e-3, 0x1p-7, 0x1p-7};
}

std::string difference(const Values& got, const Values& want, const Tolerance& tolerance) {
  if (got.size() != want.size()) {
    return std::to_string(got.size()) + " elements where " + std::to_string(want.size()) + " are expected";
  }
  double largest = 0;
  for (const double value : want) largest = std::max(largest, std::fabs(value));
  double worst = 1;
  std::string sentence;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double allowed =
        tolerance.absolute + tolerance.relative * std::fabs(want[i]) + tolerance.scaled * largest;
    const double ratio = std::fabs(got[i] - want[i]) / allowed;
    if (ratio <= worst) continue;  // false for NaN, which is then reported
    if (!(ratio > worst) && !sentence.empty()) continue;
    if (ratio > worst) worst = ratio;
    sentence = "element " + std::to_string(i) + " is " + std::to_string(got[i]) + " where " +
               std::to_string(want[i]) + " is expected, " + std::to_string(ratio) + " times the tolerance";
  }
  return sentence;
}

Values central_differences(const std::function<double(const Values&)>& loss, Values x, double step) {
  Values gradient(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double keep = x[i];
    x[i] = keep + step;
    const double above = loss(x);
    x[i] = keep - step;
    const double below = loss(x);
    x[i] = keep;
    gradient[i] = (above - below) / (2 * step);
  }
  return gradient;
}

double inner_product(const Values& a, const Values& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<std::uint8_t> same_with_any_threads(
    const std::function<std::vector<std::uint8_t>(Backend&)>& work, std::string& complaint) {
  const auto run = [&](int threads) {
    const auto backend = test_backend(threads);
    return work(*backend);
  };
  const std::vector<std::uint8_t> one = run(1);
  const std::vector<std::uint8_t> two = run(2);
  if (one != two) {
    std::size_t i = 0;
    while (i < one.size() && i < two.size() && one[i] == two[i]) ++i;
    complaint = "one thread and two threads differ from byte " + std::to_string(i) + " of " +
                std::to_string(one.size());
  }
  return one;
}

std::vector<Values> outputs_with_any_threads(const std::function<std::vector<Values>(Backend&)>& work,
                                             std::string& complaint) {
  std::vector<Values> outputs;
  same_with_any_threads(
      [&](Backend& backend) {
        outputs = work(backend);
        std::vector<std::uint8_t> bytes;
        for (const Values& values : outputs) {
          const std::vector<std::uint8_t> more = to_bytes(values, DType::f64);
          bytes.insert(bytes.end(), more.begin(), more.end());
        }
        return bytes;
      },
      complaint);
  return outputs;
}

std::vector<DType> compute_types() {
  const auto backend = test_backend(1);
  std::vector<DType> types;
  for (const DType type : {DType::f32, DType::bf16, DType::f16}) {
    if (backend->supports(type)) types.push_back(type);
  }
  return types;
}

bool throws(const std::function<void()>& call, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == code;
  }
  return false;
}

}  // namespace lorikeet::testing
