// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files.h"
#include "core/model/weight_source.h"

namespace lorikeet {

/// Types of metadata values (formats.md §7.1).
enum class GgufType : std::uint32_t {
  u8,
  i8,
  u16,
  i16,
  u32,
  i32,
  f32,
  boolean,
  string,
  array,
  u64,
  i64,
  f64
};

/// One tensor of a GGUF file under its own name.
struct GgufTensor {
  std::string name;  ///< for example "blk.0.attn_q.weight"
  StorageType type = StorageType::other;
  std::string dtype;                ///< ggml's name, for example "Q4_K"
  std::vector<std::int64_t> shape;  ///< slowest first, as in PyTorch: the file's order turned round
  std::uint64_t offset = 0;         ///< in the file
  std::uint64_t bytes = 0;
};

/// A GGUF file (version 2 or 3, little-endian): metadata and tensor table, read and checked before anything
/// is used — every count, length, type and offset against the file's size. Tensor data is not read.
///
/// Look-ups: an absent key gives `fallback` (or an empty list), another type than asked for throws
/// Error(bad_format) naming file and key. Integers of every width and sign are one type to the caller.
class GgufFile {
 public:
  /// Maps and checks a file. Throws Error(not_found | io | bad_format | unsupported).
  explicit GgufFile(const std::string& path);
  /// The same over bytes in memory that outlive it; `name` stands for the path.
  GgufFile(std::span<const std::byte> bytes, const std::string& name);

  const std::string& path() const { return path_; }
  std::uint32_t version() const { return version_; }

  bool has(const std::string& key) const { return values_.count(key) != 0; }
  std::vector<std::string> keys() const;
  std::string text(const std::string& key, const std::string& fallback = {}) const;
  std::int64_t integer(const std::string& key, std::int64_t fallback, std::int64_t low,
                       std::int64_t high) const;
  double number(const std::string& key, double fallback) const;
  bool boolean(const std::string& key, bool fallback) const;
  /// Views into the file; valid as long as this object.
  std::vector<std::string_view> texts(const std::string& key) const;
  std::vector<float> numbers(const std::string& key) const;
  std::vector<std::int64_t> integers(const std::string& key) const;
  /// Elements of a list, 0 when absent.
  std::uint64_t count(const std::string& key) const;

  const std::vector<GgufTensor>& tensors() const { return tensors_; }
  /// The tensor of this name or nullptr.
  const GgufTensor* find(std::string_view name) const;
  std::span<const std::byte> bytes(const GgufTensor& tensor) const {
    return bytes_.subspan(tensor.offset, tensor.bytes);
  }
  /// Gives the pages of a tensor back after it was read.
  void forget(const GgufTensor& tensor) const { map_.forget(tensor.offset, tensor.bytes); }

 private:
  struct Value {
    GgufType type = GgufType::u8;
    GgufType element = GgufType::u8;  ///< of a list
    std::uint64_t count = 1;          ///< of a list
    std::uint64_t offset = 0;         ///< of the first byte of the value or element
  };
  class Reader;

  void parse();
  void read_value(Reader& reader, const std::string& key);
  void read_tensor(Reader& reader);
  void place_tensors(std::uint64_t data_start, std::uint64_t alignment);
  const Value* value(const std::string& key) const;
  const Value* list(const std::string& key) const;
  [[noreturn]] void wrong_type(const std::string& key, const char* wanted) const;
  std::int64_t integer_at(const std::string& key, GgufType type, std::uint64_t offset) const;
  double number_at(GgufType type, std::uint64_t offset) const;

  std::string path_;
  MappedFile map_;
  std::span<const std::byte> bytes_;
  std::uint32_t version_ = 0;
  std::map<std::string, Value> values_;
  std::vector<GgufTensor> tensors_;
  std::map<std::string, std::size_t, std::less<>> by_name_;
};

}  // namespace lorikeet
