// SPDX-License-Identifier: Apache-2.0
// Pages of a column chunk: parquet.thrift PageHeader, Encodings.md.
#include "core/data/parquet/column.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/data/parquet/codec.h"
#include "core/data/parquet/thrift.h"
#include "kernels/base/error.h"

namespace lorikeet::parquet {
namespace {

enum : std::int64_t { data_page = 0, index_page = 1, dictionary_page = 2, data_page_v2 = 3 };
enum : std::int64_t { plain = 0, plain_dictionary = 2, rle = 3, rle_dictionary = 8 };
constexpr std::array<const char*, 10> encoding_names = {
    "PLAIN",          "GROUP_VAR_INT",       "PLAIN_DICTIONARY",        "RLE",
    "BIT_PACKED",     "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY",
    "RLE_DICTIONARY", "BYTE_STREAM_SPLIT"};

Error damaged(const std::string& what) {
  return Error(ErrorCode::bad_format, what);
}

Error not_read(const std::string& what, std::int64_t encoding) {
  const bool known = encoding >= 0 && encoding < std::ssize(encoding_names);
  return Error(ErrorCode::unsupported, "has " + what + " in the encoding " +
                                           (known ? encoding_names[static_cast<std::size_t>(encoding)]
                                                  : std::to_string(encoding).c_str()) +
                                           ", which is not read");
}

std::string_view take(std::string_view& bytes, std::uint64_t count, const char* what) {
  if (count > bytes.size()) throw damaged(std::string("breaks off in ") + what);
  const std::string_view taken = bytes.substr(0, static_cast<std::size_t>(count));
  bytes.remove_prefix(static_cast<std::size_t>(count));
  return taken;
}

std::uint32_t take_length(std::string_view& bytes, const char* what) {
  std::uint32_t length = 0;
  std::memcpy(&length, take(bytes, sizeof length, what).data(), sizeof length);
  return length;
}

}  // namespace

struct Column::PageHeader {
  std::int64_t type = -1, plain_bytes = -1, packed_bytes = -1;
  std::int64_t values = -1, encoding = -1;
  std::int64_t definition_encoding = rle, repetition_encoding = rle;
  std::int64_t definition_bytes = 0, repetition_bytes = 0;  ///< of version 2
  bool packed = true;
};

Column::Column(const Node& node, const Chunk& chunk, std::string_view file)
    : node_(node),
      codec_(chunk.codec),
      bytes_(file.substr(static_cast<std::size_t>(chunk.begin), static_cast<std::size_t>(chunk.size))),
      chunk_values_(chunk.values) {}

Column::PageHeader Column::read_page_header() {
  using Type = ThriftReader::Type;
  PageHeader header;
  ThriftReader reader(bytes_);
  // Fields of the three kinds of pages, by their numbers in parquet.thrift.
  const auto inside = [&](std::array<std::int64_t*, 7> fields) {
    reader.structure([&](int id, Type type) {
      if (id == 7 && (type == Type::yes || type == Type::no)) {
        header.packed = type == Type::yes;
        return true;
      }
      if (type != Type::i32 || id < 1 || id > 6 || !fields[static_cast<std::size_t>(id)]) return false;
      *fields[static_cast<std::size_t>(id)] = reader.integer();
      return true;
    });
    return true;
  };
  reader.structure([&](int id, Type type) {
    if (type == Type::structure) {
      if (id == 5)
        return inside({nullptr, &header.values, &header.encoding, &header.definition_encoding,
                       &header.repetition_encoding});
      if (id == 7) return inside({nullptr, &header.values, &header.encoding});
      if (id == 8)
        return inside({nullptr, &header.values, nullptr, nullptr, &header.encoding, &header.definition_bytes,
                       &header.repetition_bytes});
      return false;
    }
    if (type != Type::i32 || id < 1 || id > 3) return false;
    (id == 1 ? header.type : id == 2 ? header.plain_bytes : header.packed_bytes) = reader.integer();
    return true;
  });
  bytes_.remove_prefix(reader.position());
  if (header.type < 0 || header.plain_bytes < 0 || header.packed_bytes < 0)
    throw damaged("has a damaged page header");
  return header;
}

void Column::load_page() {
  const PageHeader header = read_page_header();
  const std::string_view packed = take(bytes_, static_cast<std::uint64_t>(header.packed_bytes), "a page");
  if (header.type == index_page) return;
  if (header.values < 0) throw damaged("has a page with a negative number of values");
  if (header.type == dictionary_page) return load_dictionary(header, packed);
  if (header.type != data_page && header.type != data_page_v2) throw damaged("has a page of an unknown type");
  if (header.values > chunk_values_) throw damaged("has more values than it says");
  chunk_values_ -= header.values;
  page_values_ = header.values;
  load_data_page(header, packed);
}

void Column::load_dictionary(const PageHeader& header, std::string_view packed) {
  if (header.encoding != plain && header.encoding != plain_dictionary)
    throw not_read("its dictionary", header.encoding);
  unpack(codec_, packed, static_cast<std::size_t>(header.plain_bytes), dictionary_page_);
  std::string_view rest = dictionary_page_;
  dictionary_.clear();
  if (node_.type == Physical::boolean) throw not_read("truth values", rle_dictionary);
  for (std::int64_t i = 0; i < header.values; ++i) dictionary_.push_back(plain_value(rest));
}

void Column::load_data_page(const PageHeader& header, std::string_view packed) {
  const int repetition_bits = bits_for(node_.repetitions), definition_bits = bits_for(node_.definition);
  std::string_view rest;
  if (header.type == data_page_v2) {
    const std::uint64_t levels =
        static_cast<std::uint64_t>(std::max<std::int64_t>(header.repetition_bytes, 0)) +
        static_cast<std::uint64_t>(std::max<std::int64_t>(header.definition_bytes, 0));
    std::string_view level_bytes = take(packed, levels, "its levels");
    if (levels > static_cast<std::uint64_t>(header.plain_bytes))
      throw damaged("has a page of another size than it says");
    unpack(header.packed ? codec_ : 0, packed,
           static_cast<std::size_t>(header.plain_bytes) - static_cast<std::size_t>(levels), page_);
    rest = page_;
    const auto repetition_bytes =
        static_cast<std::uint64_t>(std::max<std::int64_t>(header.repetition_bytes, 0));
    // Levels lie in the file itself, which stays where it is.
    repetitions_ = HybridDecoder(take(level_bytes, repetition_bytes, "its levels"), repetition_bits);
    definitions_ = HybridDecoder(level_bytes, definition_bits);
  } else {
    unpack(codec_, packed, static_cast<std::size_t>(header.plain_bytes), page_);
    rest = page_;
    if (repetition_bits > 0) {
      if (header.repetition_encoding != rle) throw not_read("levels", header.repetition_encoding);
      repetitions_ =
          HybridDecoder(take(rest, take_length(rest, "its levels"), "its levels"), repetition_bits);
    }
    if (definition_bits > 0) {
      if (header.definition_encoding != rle) throw not_read("levels", header.definition_encoding);
      definitions_ =
          HybridDecoder(take(rest, take_length(rest, "its levels"), "its levels"), definition_bits);
    }
  }
  begin_values(header.encoding, rest);
}

void Column::begin_values(std::int64_t encoding, std::string_view values) {
  by_dictionary_ = encoding == plain_dictionary || encoding == rle_dictionary;
  by_runs_ = encoding == rle && node_.type == Physical::boolean;
  if (by_dictionary_) {
    int width = 0;
    if (!values.empty()) {
      width = static_cast<unsigned char>(values.front());
      values.remove_prefix(1);
    }
    if (width > 32) throw damaged("has dictionary indexes of an impossible width");
    indexes_ = HybridDecoder(values, width);
  } else if (by_runs_) {
    indexes_ = HybridDecoder(take(values, take_length(values, "its values"), "its values"), 1);
  } else if (encoding == plain) {
    plain_ = values;
    plain_bit_ = 0;
  } else {
    throw not_read("values", encoding);
  }
}

std::string_view Column::plain_value(std::string_view& bytes) const {
  switch (node_.type) {
    case Physical::bytes: {
      const std::uint32_t length = take_length(bytes, "its values");
      return take(bytes, length, "its values");
    }
    case Physical::fixed_bytes:
      return take(bytes, static_cast<std::uint64_t>(std::max<std::int64_t>(node_.type_length, 1)),
                  "its values");
    case Physical::int32:
    case Physical::real32:
      return take(bytes, 4, "its values");
    case Physical::int96:
      return take(bytes, 12, "its values");
    default:
      return take(bytes, 8, "its values");
  }
}

bool Column::at_entry() {
  while (page_values_ == 0) {
    if (chunk_values_ == 0 || bytes_.empty()) {
      if (chunk_values_ > 0) throw damaged("has fewer values than it says");
      return false;
    }
    load_page();
  }
  if (!levels_read_) {
    repetition_ = node_.repetitions > 0 ? static_cast<int>(repetitions_.next()) : 0;
    definition_ = node_.definition > 0 ? static_cast<int>(definitions_.next()) : 0;
    if (repetition_ > node_.repetitions || definition_ > node_.definition)
      throw damaged("has an impossible level");
    levels_read_ = true;
  }
  return true;
}

std::string_view Column::value() {
  if (value_taken_) return value_;
  value_taken_ = true;
  if (by_dictionary_) {
    const std::uint32_t index = indexes_.next();
    if (index >= dictionary_.size()) throw damaged("refers to an entry that its dictionary does not have");
    return value_ = dictionary_[index];
  }
  if (node_.type == Physical::boolean) {
    if (by_runs_) {
      boolean_ = static_cast<char>(indexes_.next());
    } else {
      if (plain_bit_ / 8 >= plain_.size()) throw damaged("breaks off in its values");
      boolean_ = static_cast<char>(plain_[static_cast<std::size_t>(plain_bit_ / 8)] >> (plain_bit_ % 8) & 1);
      ++plain_bit_;
    }
    return value_ = std::string_view(&boolean_, 1);
  }
  return value_ = plain_value(plain_);
}

void Column::next() {
  if (definition_ == node_.definition) value();  // a value that nobody asked for is there all the same
  --page_values_;
  levels_read_ = value_taken_ = false;
}

}  // namespace lorikeet::parquet
