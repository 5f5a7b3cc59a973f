// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

namespace lorikeet::parquet {

/// Reads Thrift's compact protocol from bytes of strangers: nothing is read beyond them, nesting is bounded,
/// and lists are never longer than their bytes allow. Errors are Error(bad_format) without a place.
class ThriftReader {
 public:
  enum class Type : std::uint8_t {
    stop = 0,
    yes = 1,
    no = 2,
    i8 = 3,
    i16 = 4,
    i32 = 5,
    i64 = 6,
    real = 7,
    binary = 8,
    list = 9,
    set = 10,
    map = 11,
    structure = 12,
  };

  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  /// Calls `field` for each field of the structure at hand; it takes the value, or leaves it to be skipped by
  /// returning false.
  void structure(const std::function<bool(int id, Type type)>& field);
  /// Calls `element` for each element of a list of structures or values.
  void list(const std::function<void(Type type)>& element);

  std::int64_t integer();
  std::string_view binary();
  void skip(Type type);
  std::size_t position() const { return position_; }

 private:
  std::uint8_t byte();
  std::uint64_t varint();

  std::string_view bytes_;
  std::size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace lorikeet::parquet
