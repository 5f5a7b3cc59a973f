// SPDX-License-Identifier: Apache-2.0
#include "core/data/parquet/thrift.h"

#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

constexpr int max_depth = 64;

[[noreturn]] void fail(const char* what) {
  throw Error(ErrorCode::bad_format,
              std::string("The description of the file's contents is damaged: ") + what);
}

}  // namespace

std::uint8_t ThriftReader::byte() {
  if (position_ >= bytes_.size()) fail("it breaks off");
  return static_cast<std::uint8_t>(bytes_[position_++]);
}

std::uint64_t ThriftReader::varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    const std::uint8_t part = byte();
    value |= static_cast<std::uint64_t>(part & 0x7F) << shift;
    if (part < 0x80) return value;
  }
  fail("a number is too long");
}

std::int64_t ThriftReader::integer() {
  const std::uint64_t zigzag = varint();
  return static_cast<std::int64_t>(zigzag >> 1) ^ -static_cast<std::int64_t>(zigzag & 1);
}

std::string_view ThriftReader::binary() {
  const std::uint64_t size = varint();
  if (size > bytes_.size() - position_) fail("a text breaks off");
  const std::string_view text = bytes_.substr(position_, static_cast<std::size_t>(size));
  position_ += static_cast<std::size_t>(size);
  return text;
}

void ThriftReader::structure(const std::function<bool(int, Type)>& field) {
  if (++depth_ > max_depth) fail("it is nested too deep");
  std::int64_t id = 0;
  for (;;) {
    const std::uint8_t header = byte();
    const auto type = static_cast<Type>(header & 0x0F);
    if (type == Type::stop) break;
    if (type > Type::structure) fail("a type is unknown");
    id = header >> 4 == 0 ? integer() : id + (header >> 4);
    if (id < -32768 || id > 32767) fail("a field number is out of range");
    if (!field(static_cast<int>(id), type)) skip(type);
  }
  --depth_;
}

void ThriftReader::list(const std::function<void(Type)>& element) {
  if (++depth_ > max_depth) fail("it is nested too deep");
  const std::uint8_t header = byte();
  const auto type = static_cast<Type>(header & 0x0F);
  const std::uint64_t size = header >> 4 == 15 ? varint() : header >> 4;
  if (size > bytes_.size() - position_)
    fail("a list is longer than its bytes");  // an element has a byte at least
  for (std::uint64_t i = 0; i < size; ++i) element(type);
  --depth_;
}

void ThriftReader::skip(Type type) {
  switch (type) {
    case Type::yes:
    case Type::no:
      return;
    case Type::i8:
      byte();
      return;
    case Type::i16:
    case Type::i32:
    case Type::i64:
      varint();
      return;
    case Type::real:
      for (int i = 0; i < 8; ++i) byte();
      return;
    case Type::binary:
      binary();
      return;
    case Type::list:
    case Type::set:
      return list(
          [this](Type inner) { inner == Type::yes || inner == Type::no ? void(byte()) : skip(inner); });
    case Type::structure:
      return structure([](int, Type) { return false; });
    default:
      fail("a value of an unexpected type");
  }
}

}  // namespace lorikeet::parquet
