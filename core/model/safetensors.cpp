// SPDX-License-Identifier: Apache-2.0
#include "core/model/safetensors.h"

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "core/base/checked.h"
#include "core/model/foreign_file.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::uint64_t max_header_bytes = 100'000'000;
constexpr std::size_t max_tensors = 1 << 18;  // the largest model published has a third of that
constexpr std::size_t max_rank = 64;
constexpr std::size_t max_dtype_name = 16;

constexpr SafetensorsDtype dtypes[] = {
    {"BOOL", 8, 0},         {"F4", 4, 1},      {"F6_E2M3", 6, 2}, {"F6_E3M2", 6, 3}, {"U8", 8, 4},
    {"I8", 8, 5},           {"F8_E5M2", 8, 6}, {"F8_E4M3", 8, 7}, {"F8_E8M0", 8, 8}, {"F8_E4M3FNUZ", 8, 9},
    {"F8_E5M2FNUZ", 8, 10}, {"I16", 16, 11},   {"U16", 16, 12},   {"F16", 16, 13},   {"BF16", 16, 14},
    {"I32", 32, 15},        {"U32", 32, 16},   {"F32", 32, 17},   {"C64", 64, 18},   {"F64", 64, 19},
    {"I64", 64, 20},        {"U64", 64, 21},
};

/// Builds the entries straight from the parser's events: no document tree, so a hostile header of 100 MB
/// costs little more than itself, and repeated keys are seen.
class HeaderReader {
 public:
  HeaderReader(const std::string& file, SafetensorsHeader& out) : file_(file), out_(out) {}

  bool null() { return unexpected("null"); }
  bool boolean(bool) { return unexpected("a boolean"); }
  bool number_integer(std::int64_t) { return unexpected("a negative number"); }
  bool number_float(double, const std::string&) {
    return unexpected("a number with a fraction or beyond 64 bits");
  }
  bool binary(std::vector<std::uint8_t>&) { return unexpected("binary data"); }

  bool number_unsigned(std::uint64_t value) {
    if (place_ != Place::numbers) return unexpected("a number");
    if (numbers_.size() == max_rank) fail("More than " + std::to_string(max_rank) + " numbers in one list");
    numbers_.push_back(value);
    return true;
  }
  bool string(std::string& value) {
    if (place_ == Place::metadata) {
      out_.metadata[field_] = value;
      return true;
    }
    if (place_ != Place::tensor || field_ != "dtype") return unexpected("text");
    entry_.dtype = find_safetensors_dtype(value);
    if (!entry_.dtype)
      fail("The dtype \"" + value.substr(0, max_dtype_name) + "\" is not one of safetensors'");
    return true;
  }
  bool start_object(std::size_t) {
    if (place_ == Place::outside)
      place_ = Place::top;
    else if (place_ == Place::top)
      open_member();
    else
      return unexpected("an object");
    return true;
  }
  bool key(std::string& value) {
    if (place_ == Place::top) {
      name_ = value;
      return true;
    }
    field_ = value;
    if (place_ == Place::metadata) {
      if (out_.metadata.count(field_)) fail("The metadata key \"" + field_ + "\" stands twice");
      return true;
    }
    bool* seen = field_ == "dtype" ? &has_dtype_ : field_ == "shape" ? &has_shape_ : &has_offsets_;
    if (field_ != "dtype" && field_ != "shape" && field_ != "data_offsets")
      fail("Unknown field \"" + field_ + "\"");
    if (*seen) fail("The field \"" + field_ + "\" stands twice");
    *seen = true;
    return true;
  }
  bool end_object() {
    if (place_ == Place::tensor) close_tensor();
    place_ = place_ == Place::top ? Place::outside : Place::top;
    return true;
  }
  bool start_array(std::size_t) {
    if (place_ != Place::tensor || field_ == "dtype") return unexpected("a list");
    place_ = Place::numbers;
    numbers_.clear();
    return true;
  }
  bool end_array() {
    place_ = Place::tensor;
    if (field_ == "data_offsets") {
      if (numbers_.size() != 2) fail("data_offsets has to be two numbers");
      entry_.begin = numbers_[0];
      entry_.end = numbers_[1];
      return true;
    }
    for (const std::uint64_t extent : numbers_) {
      if (extent > static_cast<std::uint64_t>(INT64_MAX)) fail("The shape has an extent beyond 63 bits");
      entry_.shape.push_back(static_cast<std::int64_t>(extent));
    }
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::json::exception&) {
    throw Error(ErrorCode::bad_format, "The header is not valid JSON at byte " + std::to_string(8 + position),
                file_);
  }

 private:
  enum class Place { outside, top, metadata, tensor, numbers };

  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_format, what, name_.empty() ? file_ : file_ + ": " + name_);
  }
  bool unexpected(const char* what) const {
    fail(std::string("The header has ") + what + " where it may not stand");
  }

  void open_member() {
    if (name_ == "__metadata__") {
      if (has_metadata_) fail("The header has two __metadata__");
      has_metadata_ = true;
      place_ = Place::metadata;
      return;
    }
    if (out_.tensors.size() == max_tensors)
      fail("The file claims more than " + std::to_string(max_tensors) + " tensors");
    place_ = Place::tensor;
    entry_ = SafetensorsEntry{};
    has_dtype_ = has_shape_ = has_offsets_ = false;
  }
  void close_tensor() {
    if (!has_dtype_ || !has_shape_ || !has_offsets_) fail("A tensor needs dtype, shape and data_offsets");
    entry_.name = name_;
    out_.tensors.push_back(std::move(entry_));
  }

  const std::string& file_;
  SafetensorsHeader& out_;
  Place place_ = Place::outside;
  std::string name_, field_;
  SafetensorsEntry entry_;
  std::vector<std::uint64_t> numbers_;
  bool has_metadata_ = false, has_dtype_ = false, has_shape_ = false, has_offsets_ = false;
};

std::uint64_t little_endian_u64(std::span<const std::byte> bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);  // every processor served is little-endian
  return value;
}

/// The header's text, or an Error that says why there is none.
std::string_view header_text(std::span<const std::byte> file, const std::string& name) {
  const auto refuse = [&](const std::string& what) {
    refuse_foreign_file(file, name);
    return Error(ErrorCode::bad_format, what, name, "Get the file again; it may be cut or not a model");
  };
  if (file.size() < 8)
    throw refuse("The file has " + std::to_string(file.size()) + " bytes, too few for safetensors");
  const std::uint64_t length = little_endian_u64(file);
  if (length > max_header_bytes) throw refuse("The safetensors header claims more than 100 MB");
  if (length > file.size() - 8) throw refuse("The safetensors header is longer than the file");
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + 8, length);
  if (text.empty() || text.front() != '{') throw refuse("The safetensors header does not begin with {");
  return text;
}

void check_size(const SafetensorsEntry& tensor, const std::string& name) {
  const std::string where = name + ": " + tensor.name;
  const auto elements = checked_elements(tensor.shape);
  const auto bits =
      elements ? checked_multiply(*elements, static_cast<std::uint64_t>(tensor.dtype->bits)) : std::nullopt;
  if (!bits) throw Error(ErrorCode::bad_format, "The tensor's shape overflows", where);
  if (*bits % 8 != 0) throw Error(ErrorCode::bad_format, "The tensor does not fill whole bytes", where);
  if (tensor.end < tensor.begin)
    throw Error(ErrorCode::bad_format, "The tensor ends before it begins", where);
  if (tensor.bytes() != *bits / 8) {
    throw Error(ErrorCode::bad_format,
                "The tensor's shape needs " + std::to_string(*bits / 8) + " bytes, its offsets span " +
                    std::to_string(tensor.bytes()),
                where);
  }
}

/// Tensors sorted by offset have to cover the data buffer from its first byte to its last.
void check_coverage(const std::vector<SafetensorsEntry>& tensors, std::uint64_t data_bytes,
                    const std::string& name) {
  std::uint64_t expected = 0;
  const SafetensorsEntry* previous = nullptr;
  for (const SafetensorsEntry& tensor : tensors) {
    if (tensor.begin != expected) {
      const std::string what = tensor.begin < expected ? "overlap" : "leave a hole between them";
      const std::string first = previous ? previous->name : "the start of the data";
      throw Error(ErrorCode::bad_format, "Tensors " + what, name + ": " + first + ", " + tensor.name);
    }
    expected = tensor.end;
    previous = &tensor;
  }
  if (expected == data_bytes) return;
  const bool cut = expected > data_bytes;
  throw Error(ErrorCode::bad_format,
              "The tensors need " + std::to_string(expected) + " bytes of data, the file has " +
                  std::to_string(data_bytes),
              name, cut ? "The file is cut; get it again" : "");
}

std::vector<std::uint32_t> sorted_by_name(const std::vector<SafetensorsEntry>& tensors) {
  std::vector<std::uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return tensors[a].name < tensors[b].name; });
  return order;
}

}  // namespace

const SafetensorsDtype* find_safetensors_dtype(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(dtypes), std::end(dtypes), [&](auto& dtype) { return name == dtype.name; });
  return found == std::end(dtypes) ? nullptr : found;
}

SafetensorsHeader parse_safetensors(std::span<const std::byte> file, const std::string& name) {
  const std::string_view text = header_text(file, name);
  SafetensorsHeader header;
  HeaderReader reader(name, header);
  nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  header.data_start = 8 + text.size();
  for (const SafetensorsEntry& tensor : header.tensors) check_size(tensor, name);
  const std::vector<std::uint32_t> by_name = sorted_by_name(header.tensors);
  for (std::size_t i = 1; i < by_name.size(); ++i) {
    if (header.tensors[by_name[i - 1]].name == header.tensors[by_name[i]].name) {
      throw Error(ErrorCode::bad_format, "Two tensors have the same name",
                  name + ": " + header.tensors[by_name[i]].name);
    }
  }
  std::stable_sort(header.tensors.begin(), header.tensors.end(), [](const auto& a, const auto& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  check_coverage(header.tensors, file.size() - header.data_start, name);
  return header;
}

SafetensorsFile::SafetensorsFile(const std::string& path)
    : path_(path),
      file_(path),
      header_(parse_safetensors(file_.bytes(), path)),
      by_name_(sorted_by_name(header_.tensors)) {}

const SafetensorsEntry* SafetensorsFile::find(std::string_view tensor) const {
  const auto found = std::lower_bound(by_name_.begin(), by_name_.end(), tensor, [&](auto index, auto& name) {
    return header_.tensors[index].name < name;
  });
  if (found == by_name_.end() || header_.tensors[*found].name != tensor) return nullptr;
  return &header_.tensors[*found];
}

std::span<const std::byte> SafetensorsFile::bytes(const SafetensorsEntry& entry) const {
  return file_.bytes().subspan(header_.data_start + entry.begin, entry.bytes());
}

void SafetensorsFile::forget(const SafetensorsEntry& entry) const {
  file_.forget(header_.data_start + entry.begin, entry.bytes());
}

}  // namespace lorikeet
