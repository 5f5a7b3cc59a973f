// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files.h"

namespace lorikeet {

/// A safetensors dtype: its name in the header, bits of one number and rank in the writer's order (formats.md
/// §1.1).
struct SafetensorsDtype {
  const char* name = "";
  int bits = 0;
  int rank = 0;
};
/// The dtype of this name or nullptr.
const SafetensorsDtype* find_safetensors_dtype(std::string_view name);

/// One tensor as the header of a safetensors file describes it.
struct SafetensorsEntry {
  std::string name;
  const SafetensorsDtype* dtype = nullptr;
  std::vector<std::int64_t> shape;  ///< empty = one number
  std::uint64_t begin = 0;          ///< offset in the data buffer, bytes
  std::uint64_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
};

/// Header of a safetensors file: tensors in the order of their data, and the free texts of "__metadata__".
struct SafetensorsHeader {
  std::vector<SafetensorsEntry> tensors;
  std::map<std::string, std::string> metadata;
  std::uint64_t data_start = 0;  ///< offset of the data buffer in the file
};

/// Parses and checks a whole file image: header at most 100 MB and inside the file, no duplicate names, known
/// dtypes, sizes that follow from shapes without overflow, and data that the tensors cover exactly (no hole,
/// overlap or tail). `name` is used in errors. Throws Error(bad_format), or Error(unsupported) when the bytes
/// are a pickle.
SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& name);

/// A mapped safetensors file.
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);

  const std::string& path() const { return path_; }
  const std::vector<SafetensorsEntry>& tensors() const { return header_.tensors; }
  const std::map<std::string, std::string>& metadata() const { return header_.metadata; }
  /// The tensor of this name or nullptr.
  const SafetensorsEntry* find(std::string_view tensor) const;
  std::span<const std::byte> bytes(const SafetensorsEntry& entry) const;
  /// Gives the pages of a tensor back after it was read.
  void forget(const SafetensorsEntry& entry) const;

 private:
  std::string path_;
  MappedFile file_;
  SafetensorsHeader header_;
  std::vector<std::uint32_t> by_name_;
};

/// A tensor to be written.
struct SafetensorsPlan {
  std::string name;
  std::string dtype;  ///< "F32", "F16", "BF16", ...
  std::vector<std::int64_t> shape;
};

/// Where everything of a file to be written will lie; known before a byte of data exists.
struct SafetensorsLayout {
  std::string header;                     ///< length, JSON and padding: the bytes before the data
  std::vector<SafetensorsEntry> tensors;  ///< in the order of their data
  std::uint64_t file_bytes = 0;
};

/// Lays a file out as the reference writer does: dtype rank descending, then name; compact JSON with
/// "__metadata__"
/// {"format":"pt"} first; header padded with spaces to a multiple of 8. Throws Error(invalid_argument) for an
/// unknown dtype, a repeated name or a size that overflows.
SafetensorsLayout plan_safetensors(std::vector<SafetensorsPlan> tensors);

/// Writes a safetensors file tensor by tensor, in the order of its layout, into a temporary file; commit()
/// renames it.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::string& path, SafetensorsLayout layout);

  const SafetensorsLayout& layout() const { return layout_; }
  /// Appends bytes of the next unfinished tensor; more than it has throws Error(invalid_argument).
  void write(std::span<const std::byte> bytes);
  /// Throws Error(invalid_argument) when tensors are unfinished, else makes the file appear under its name.
  void commit();

 private:
  SafetensorsLayout layout_;
  AtomicFile file_;
  std::size_t next_ = 0;
  std::uint64_t written_ = 0;  ///< bytes of tensor next_
};

}  // namespace lorikeet
