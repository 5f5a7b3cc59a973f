// SPDX-License-Identifier: Apache-2.0
#include "tests/support/golden.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace lorikeet::golden {

namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::vector<char> read_file(const std::string& name) {
  std::ifstream file(path(name), std::ios::binary);
  if (!file) throw std::runtime_error("Cannot read " + path(name));
  return {std::istreambuf_iterator<char>(file), {}};
}

template <typename T>
T value_at(const GoldenTensor& tensor, std::size_t index) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

float from_bf16(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

float from_f16(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const auto fraction = static_cast<float>(bits & 1023);
  const float sign = (bits & 0x8000) ? -1.0f : 1.0f;
  if (exponent == 31) throw std::runtime_error("Golden values are finite");
  return exponent == 0 ? sign * std::ldexp(fraction, -24)
                       : sign * std::ldexp(1 + fraction / 1024, exponent - 15);
}

std::size_t size_of_type(const std::string& dtype) {
  if (dtype == "F32" || dtype == "I32") return 4;
  return dtype == "F16" || dtype == "BF16" ? 2 : 1;
}

}  // namespace

std::string path(const std::string& name) {
  return std::string(LORIKEET_GOLDEN_FOLDER) + "/" + name;
}

nlohmann::ordered_json read_json(const std::string& name) {
  const std::vector<char> text = read_file(name);
  return nlohmann::ordered_json::parse(text.begin(), text.end());
}

std::vector<float> GoldenTensor::floats() const {
  const std::size_t count = bytes.size() / size_of_type(dtype);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (dtype == "F32") {
      values[i] = value_at<float>(*this, i);
    } else if (dtype == "BF16") {
      values[i] = from_bf16(value_at<std::uint16_t>(*this, i));
    } else if (dtype == "F16") {
      values[i] = from_f16(value_at<std::uint16_t>(*this, i));
    } else {
      throw std::runtime_error("Not a tensor of floats: " + dtype);
    }
  }
  return values;
}

std::vector<std::int32_t> GoldenTensor::integers() const {
  const std::size_t count = bytes.size() / size_of_type(dtype);
  std::vector<std::int32_t> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (dtype == "I32") {
      values[i] = value_at<std::int32_t>(*this, i);
    } else if (dtype == "U8") {
      values[i] = value_at<std::uint8_t>(*this, i);
    } else if (dtype == "I8") {
      values[i] = value_at<std::int8_t>(*this, i);
    } else {
      throw std::runtime_error("Not a tensor of integers: " + dtype);
    }
  }
  return values;
}

std::map<std::string, GoldenTensor> read_tensors(const std::string& name) {
  const std::vector<char> file = read_file(name);
  std::uint64_t header_bytes = 0;
  if (file.size() < 8) throw std::runtime_error(name + " is too short");
  std::memcpy(&header_bytes, file.data(), 8);
  if (header_bytes > file.size() - 8) throw std::runtime_error(name + " is cut off");
  const char* data = file.data() + 8 + header_bytes;
  const auto header = nlohmann::json::parse(file.data() + 8, data);
  std::map<std::string, GoldenTensor> tensors;
  for (const auto& [key, entry] : header.items()) {
    if (key == "__metadata__") continue;
    const auto begin = entry.at("data_offsets").at(0).get<std::size_t>();
    const auto end = entry.at("data_offsets").at(1).get<std::size_t>();
    if (begin > end || end > file.size() - 8 - header_bytes) throw std::runtime_error(name + " is cut off");
    GoldenTensor tensor{entry.at("dtype"), entry.at("shape"), std::vector<std::byte>(end - begin)};
    std::copy(data + begin, data + end, reinterpret_cast<char*>(tensor.bytes.data()));
    tensors.emplace(key, std::move(tensor));
  }
  return tensors;
}

double largest_difference(std::span<const float> a, std::span<const float> b) {
  if (a.size() != b.size()) return infinite;
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    if (!(difference < infinite)) return infinite;
    largest = std::max(largest, difference);
  }
  return largest;
}

double relative_difference(std::span<const float> a, std::span<const float> b) {
  if (!(largest_difference(a, b) < infinite)) return infinite;
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double d = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    difference += d * d;
    norm += static_cast<double>(b[i]) * static_cast<double>(b[i]);
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

}  // namespace lorikeet::golden
