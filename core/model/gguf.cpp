// SPDX-License-Identifier: Apache-2.0
#include "core/model/gguf.h"

#include <algorithm>
#include <cstring>

#include "core/base/checked.h"
#include "core/model/foreign_file.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::uint64_t most_keys = 1 << 16, most_tensors = 1 << 17;
constexpr std::uint64_t longest_key = 65535, longest_tensor_name = 63, longest_value = 1u << 30;
constexpr std::uint64_t largest_alignment = 1u << 20;

/// Everything ggml can store, with the block sizes that give a tensor's bytes; `other` ones are only listed.
struct GgmlType {
  std::uint32_t id;
  const char* name;
  std::int64_t elements, bytes;
  StorageType type = StorageType::other;
};
constexpr GgmlType ggml_types[] = {
    {0, "F32", 1, 4, StorageType::f32},
    {1, "F16", 1, 2, StorageType::f16},
    {2, "Q4_0", 32, 18, StorageType::q4_0},
    {3, "Q4_1", 32, 20, StorageType::q4_1},
    {6, "Q5_0", 32, 22, StorageType::q5_0},
    {7, "Q5_1", 32, 24, StorageType::q5_1},
    {8, "Q8_0", 32, 34, StorageType::q8_0},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84},
    {11, "Q3_K", 256, 110},
    {12, "Q4_K", 256, 144, StorageType::q4_k},
    {13, "Q5_K", 256, 176, StorageType::q5_k},
    {14, "Q6_K", 256, 210, StorageType::q6_k},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136},
    {24, "I8", 1, 1},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4},
    {27, "I64", 1, 8},
    {28, "F64", 1, 8},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2, StorageType::bf16},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
};

std::uint64_t size_of_type(GgufType type) {
  switch (type) {
    case GgufType::u8:
    case GgufType::i8:
    case GgufType::boolean:
      return 1;
    case GgufType::u16:
    case GgufType::i16:
      return 2;
    case GgufType::u32:
    case GgufType::i32:
    case GgufType::f32:
      return 4;
    case GgufType::u64:
    case GgufType::i64:
    case GgufType::f64:
      return 8;
    case GgufType::string:
    case GgufType::array:
      break;
  }
  return 0;
}

template <typename T>
T value_at(std::span<const std::byte> bytes, std::uint64_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);  // every processor served is little-endian
  return value;
}

std::uint64_t padded(std::uint64_t offset, std::uint64_t alignment) {
  return (offset + alignment - 1) / alignment * alignment;
}

}  // namespace

/// Walks the file; every step asks first whether the bytes are there.
class GgufFile::Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::uint64_t offset() const { return offset_; }
  std::uint64_t left() const { return bytes_.size() - offset_; }
  [[noreturn]] void fail(const std::string& what, const std::string& where = {}) const {
    throw Error(ErrorCode::bad_format, what, where.empty() ? path_ : path_ + ": " + where,
                "Get the file again; it may be cut or broken");
  }
  template <typename T>
  T take(const std::string& where) {
    if (left() < sizeof(T)) fail("The file ends too early", where);
    const T value = value_at<T>(bytes_, offset_);
    offset_ += sizeof(T);
    return value;
  }
  std::string_view text(std::uint64_t limit, const std::string& where) {
    const auto length = take<std::uint64_t>(where);
    if (length > limit || length > left()) fail("A text claims " + std::to_string(length) + " bytes", where);
    const std::string_view value(reinterpret_cast<const char*>(bytes_.data()) + offset_, length);
    offset_ += length;
    return value;
  }
  void skip(std::uint64_t count, std::uint64_t size, const std::string& where) {
    if (count > longest_value || count > left() / size)
      fail("A list claims " + std::to_string(count) + " elements", where);
    offset_ += count * size;
  }
  /// A count of things that take at least `smallest` bytes each.
  std::uint64_t count(std::uint64_t most, std::uint64_t smallest, const std::string& what) {
    const auto value = take<std::uint64_t>(what);
    if (value > most || value > left() / smallest)
      fail("The file claims " + std::to_string(value) + " " + what);
    return value;
  }

 private:
  std::span<const std::byte> bytes_;
  const std::string& path_;
  std::uint64_t offset_ = 0;
};

GgufFile::GgufFile(const std::string& path) : path_(path), map_(path), bytes_(map_.bytes()) {
  parse();
}

GgufFile::GgufFile(std::span<const std::byte> bytes, const std::string& name) : path_(name), bytes_(bytes) {
  parse();
}

void GgufFile::parse() {
  if (bytes_.size() < 8 || std::memcmp(bytes_.data(), "GGUF", 4) != 0) {
    refuse_foreign_file(bytes_, path_);
    throw Error(ErrorCode::bad_format, "This is not a GGUF file", path_);
  }
  Reader reader(bytes_, path_);
  reader.take<std::uint32_t>("magic");
  version_ = reader.take<std::uint32_t>("version");
  if (version_ > 0xffff) {
    throw Error(ErrorCode::unsupported, "Big-endian GGUF files cannot be read", path_,
                "Get the little-endian file");
  }
  if (version_ != 2 && version_ != 3) {
    throw Error(ErrorCode::unsupported, "GGUF version " + std::to_string(version_) + " cannot be read", path_,
                "Versions 2 and 3 can; convert the file with a newer tool");
  }
  const std::uint64_t tensor_count = reader.count(most_tensors, 8 + 4 + 8 + 4 + 8, "tensors");
  const std::uint64_t key_count = reader.count(most_keys, 8 + 4 + 1, "metadata keys");
  for (std::uint64_t i = 0; i < key_count; ++i) {
    const std::string key(reader.text(longest_key, "metadata key " + std::to_string(i)));
    const bool plain = std::all_of(key.begin(), key.end(), [](char c) { return c > 0x20 && c < 0x7f; });
    if (key.empty() || !plain) reader.fail("Metadata key " + std::to_string(i) + " is not plain ASCII");
    read_value(reader, key);
  }
  for (std::uint64_t i = 0; i < tensor_count; ++i) read_tensor(reader);
  std::uint64_t alignment = 32;
  if (const Value* given = value("general.alignment")) {
    if (given->type != GgufType::u32) wrong_type("general.alignment", "an unsigned 32-bit number");
    alignment = value_at<std::uint32_t>(bytes_, given->offset);
    const bool power_of_two = alignment != 0 && (alignment & (alignment - 1)) == 0;
    if (!power_of_two || alignment > largest_alignment)
      reader.fail("The alignment is no power of two", "general.alignment");
  }
  place_tensors(padded(reader.offset(), alignment), alignment);
}

void GgufFile::read_value(Reader& reader, const std::string& key) {
  const auto type_of = [&](std::uint32_t id) {
    if (id > static_cast<std::uint32_t>(GgufType::f64))
      reader.fail("Unknown value type " + std::to_string(id), key);
    return static_cast<GgufType>(id);
  };
  Value value;
  value.type = type_of(reader.take<std::uint32_t>(key));
  if (value.type == GgufType::array) {
    value.element = type_of(reader.take<std::uint32_t>(key));
    if (value.element == GgufType::array) reader.fail("A list of lists", key);
    value.count = reader.take<std::uint64_t>(key);
  }
  value.offset = reader.offset();
  const GgufType element = value.type == GgufType::array ? value.element : value.type;
  if (element != GgufType::string) {
    reader.skip(value.count, size_of_type(element), key);
  } else {
    if (value.count > longest_value || value.count > reader.left() / 8) {
      reader.fail("A list claims " + std::to_string(value.count) + " elements", key);
    }
    for (std::uint64_t i = 0; i < value.count; ++i) reader.text(longest_value, key);
  }
  if (element == GgufType::boolean) {
    for (std::uint64_t i = 0; i < value.count; ++i) {
      if (value_at<std::uint8_t>(bytes_, value.offset + i) > 1)
        reader.fail("A boolean is neither 0 nor 1", key);
    }
  }
  if (!values_.emplace(key, value).second) reader.fail("A metadata key stands twice", key);
}

void GgufFile::read_tensor(Reader& reader) {
  GgufTensor tensor;
  tensor.name = reader.text(longest_tensor_name, "tensor " + std::to_string(tensors_.size()));
  const std::string& where = tensor.name;
  if (tensor.name.empty() || tensor.name.find('\0') != std::string::npos)
    reader.fail("A tensor has no proper name");
  const auto rank = reader.take<std::uint32_t>(where);
  if (rank < 1 || rank > 4) reader.fail("A tensor has " + std::to_string(rank) + " dimensions", where);
  for (std::uint32_t axis = 0; axis < rank; ++axis) {
    const auto extent = reader.take<std::uint64_t>(where);
    if (extent == 0 || extent > static_cast<std::uint64_t>(INT64_MAX))
      reader.fail("A dimension is out of range", where);
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::int64_t>(extent));
  }
  const auto id = reader.take<std::uint32_t>(where);
  tensor.offset = reader.take<std::uint64_t>(where);
  const auto* found =
      std::find_if(std::begin(ggml_types), std::end(ggml_types), [&](auto& type) { return type.id == id; });
  if (found == std::end(ggml_types)) {
    throw Error(ErrorCode::unsupported, "Tensors of ggml type " + std::to_string(id) + " are not known",
                path_ + ": " + where, "Get the model in another quantisation, for example Q8_0 or Q4_K_M");
  }
  tensor.type = found->type;
  tensor.dtype = found->name;
  const auto elements = checked_elements(tensor.shape);
  if (!elements) reader.fail("The tensor's shape overflows", where);
  if (tensor.shape.back() % found->elements != 0) {
    reader.fail("A row of " + std::to_string(tensor.shape.back()) +
                    " numbers is no multiple of the block of " + tensor.dtype,
                where);
  }
  const auto blocks = *elements / static_cast<std::uint64_t>(found->elements);
  const auto size = checked_multiply(blocks, static_cast<std::uint64_t>(found->bytes));
  if (!size || *size > bytes_.size()) reader.fail("The tensor is larger than the file", where);
  tensor.bytes = *size;
  if (!by_name_.emplace(tensor.name, tensors_.size()).second)
    reader.fail("Two tensors have the same name", where);
  tensors_.push_back(std::move(tensor));
}

/// Offsets in the table count from the data's start and have to follow each other, padded; no sum can
/// overflow because each tensor is smaller than the file and there are at most 2^17.
void GgufFile::place_tensors(std::uint64_t data_start, std::uint64_t alignment) {
  std::uint64_t expected = 0;
  for (GgufTensor& tensor : tensors_) {
    if (tensor.offset != expected) {
      throw Error(ErrorCode::bad_format,
                  "The tensor's offset is " + std::to_string(tensor.offset) + ", expected " +
                      std::to_string(expected),
                  path_ + ": " + tensor.name);
    }
    expected = padded(expected + tensor.bytes, alignment);
    tensor.offset += data_start;
    if (tensor.offset > bytes_.size() || tensor.bytes > bytes_.size() - tensor.offset) {
      throw Error(ErrorCode::bad_format, "The tensor's data reach beyond the end of the file",
                  path_ + ": " + tensor.name, "The file is cut; get it again");
    }
  }
}

const GgufTensor* GgufFile::find(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : &tensors_[found->second];
}

}  // namespace lorikeet
