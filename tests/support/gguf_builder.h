// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::test {

/// Puts a GGUF file together from pieces; every number of it can be made wrong for tests of hostile files.
class GgufBuilder {
 public:
  std::uint32_t version = 3;
  std::uint64_t alignment = 32;  ///< used for padding; written only by add_u32("general.alignment", …)
  std::int64_t tensor_count_off_by = 0;  ///< added to the true counts
  std::int64_t key_count_off_by = 0;

  GgufBuilder& add_text(const std::string& key, std::string_view value);
  GgufBuilder& add_u32(const std::string& key, std::uint32_t value);
  GgufBuilder& add_f32(const std::string& key, float value);
  GgufBuilder& add_bool(const std::string& key, bool value);
  GgufBuilder& add_texts(const std::string& key, const std::vector<std::string>& values);
  GgufBuilder& add_f32s(const std::string& key, const std::vector<float>& values);
  GgufBuilder& add_i32s(const std::string& key, const std::vector<std::int32_t>& values);
  /// A pair whose value is `raw`, the bytes after the type.
  GgufBuilder& add_raw(const std::string& key, std::uint32_t type, std::string_view raw);

  struct Tensor {
    std::string name;
    std::vector<std::uint64_t> dims;  ///< fastest first, as in the file
    std::uint32_t type = 0;
    std::string bytes;
    std::int64_t offset_off_by = 0;
  };
  /// `shape` slowest first, as in PyTorch.
  GgufBuilder& add_tensor(const std::string& name, const std::vector<std::int64_t>& shape, std::uint32_t type,
                          std::string bytes);
  std::vector<Tensor> tensors;

  std::string build() const;

 private:
  std::vector<std::string> pairs_;
};

/// Little-endian bytes of a number.
template <typename T>
std::string raw_bytes(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}
/// A GGUF string: u64 length and bytes.
std::string gguf_text(std::string_view text);

}  // namespace lorikeet::test
