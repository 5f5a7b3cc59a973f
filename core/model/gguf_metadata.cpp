// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstring>

#include "core/model/gguf.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

template <typename T>
T value_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

bool is_integer(GgufType type) {
  return type <= GgufType::i32 || type == GgufType::u64 || type == GgufType::i64;
}
bool is_float(GgufType type) {
  return type == GgufType::f32 || type == GgufType::f64;
}

std::uint64_t bytes_of(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    default:
      return 4;
  }
}

}  // namespace

std::vector<std::string> GgufFile::keys() const {
  std::vector<std::string> names;
  for (const auto& [key, value] : values_) names.push_back(key);
  return names;
}

const GgufFile::Value* GgufFile::value(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

const GgufFile::Value* GgufFile::list(const std::string& key) const {
  const Value* found = value(key);
  if (found && found->type != GgufType::array) wrong_type(key, "a list");
  return found;
}

void GgufFile::wrong_type(const std::string& key, const char* wanted) const {
  throw Error(ErrorCode::bad_format, std::string("Expected ") + wanted, path_ + ": " + key);
}

std::int64_t GgufFile::integer_at(const std::string& key, GgufType type, std::uint64_t offset) const {
  switch (type) {
    case GgufType::u8:
      return value_at<std::uint8_t>(bytes_, offset);
    case GgufType::i8:
      return value_at<std::int8_t>(bytes_, offset);
    case GgufType::u16:
      return value_at<std::uint16_t>(bytes_, offset);
    case GgufType::i16:
      return value_at<std::int16_t>(bytes_, offset);
    case GgufType::u32:
      return value_at<std::uint32_t>(bytes_, offset);
    case GgufType::i32:
      return value_at<std::int32_t>(bytes_, offset);
    case GgufType::i64:
      return value_at<std::int64_t>(bytes_, offset);
    case GgufType::u64: {
      const auto wide = value_at<std::uint64_t>(bytes_, offset);
      if (wide > static_cast<std::uint64_t>(INT64_MAX)) wrong_type(key, "a number below 2^63");
      return static_cast<std::int64_t>(wide);
    }
    default:
      wrong_type(key, "a whole number");
  }
}

double GgufFile::number_at(GgufType type, std::uint64_t offset) const {
  return type == GgufType::f32 ? static_cast<double>(value_at<float>(bytes_, offset))
                               : value_at<double>(bytes_, offset);
}

std::string GgufFile::text(const std::string& key, const std::string& fallback) const {
  const Value* found = value(key);
  if (!found) return fallback;
  if (found->type != GgufType::string) wrong_type(key, "text");
  const auto length = value_at<std::uint64_t>(bytes_, found->offset);
  return std::string(reinterpret_cast<const char*>(bytes_.data()) + found->offset + 8, length);
}

std::int64_t GgufFile::integer(const std::string& key, std::int64_t fallback, std::int64_t low,
                               std::int64_t high) const {
  const Value* found = value(key);
  if (!found) return fallback;
  const std::int64_t number = integer_at(key, found->type, found->offset);
  if (number < low || number > high) {
    throw Error(ErrorCode::bad_format,
                "The number is " + std::to_string(number) + ", outside " + std::to_string(low) + " to " +
                    std::to_string(high),
                path_ + ": " + key);
  }
  return number;
}

double GgufFile::number(const std::string& key, double fallback) const {
  const Value* found = value(key);
  if (!found) return fallback;
  if (is_integer(found->type)) return static_cast<double>(integer_at(key, found->type, found->offset));
  if (!is_float(found->type)) wrong_type(key, "a number");
  const double number = number_at(found->type, found->offset);
  if (!std::isfinite(number)) wrong_type(key, "a finite number");
  return number;
}

bool GgufFile::boolean(const std::string& key, bool fallback) const {
  const Value* found = value(key);
  if (!found) return fallback;
  if (found->type != GgufType::boolean) wrong_type(key, "true or false");
  return value_at<std::uint8_t>(bytes_, found->offset) != 0;
}

std::vector<std::string_view> GgufFile::texts(const std::string& key) const {
  const Value* found = list(key);
  if (!found) return {};
  if (found->element != GgufType::string) wrong_type(key, "a list of texts");
  std::vector<std::string_view> all;
  all.reserve(found->count);
  std::uint64_t offset = found->offset;
  for (std::uint64_t i = 0; i < found->count; ++i) {
    const auto length = value_at<std::uint64_t>(bytes_, offset);
    all.emplace_back(reinterpret_cast<const char*>(bytes_.data()) + offset + 8, length);
    offset += 8 + length;
  }
  return all;
}

std::vector<float> GgufFile::numbers(const std::string& key) const {
  const Value* found = list(key);
  if (!found) return {};
  if (!is_float(found->element)) wrong_type(key, "a list of numbers with a fraction");
  std::vector<float> all(found->count);
  const std::uint64_t size = bytes_of(found->element);
  for (std::uint64_t i = 0; i < found->count; ++i) {
    all[i] = static_cast<float>(number_at(found->element, found->offset + i * size));
  }
  return all;
}

std::vector<std::int64_t> GgufFile::integers(const std::string& key) const {
  const Value* found = list(key);
  if (!found) return {};
  if (!is_integer(found->element)) wrong_type(key, "a list of whole numbers");
  std::vector<std::int64_t> all(found->count);
  const std::uint64_t size = bytes_of(found->element);
  for (std::uint64_t i = 0; i < found->count; ++i)
    all[i] = integer_at(key, found->element, found->offset + i * size);
  return all;
}

std::uint64_t GgufFile::count(const std::string& key) const {
  const Value* found = list(key);
  return found ? found->count : 0;
}

}  // namespace lorikeet
