// SPDX-License-Identifier: Apache-2.0
#include "tests/support/gguf_builder.h"

namespace lorikeet::test {

std::string gguf_text(std::string_view text) {
  return raw_bytes<std::uint64_t>(text.size()) + std::string(text);
}

GgufBuilder& GgufBuilder::add_raw(const std::string& key, std::uint32_t type, std::string_view raw) {
  pairs_.push_back(gguf_text(key) + raw_bytes(type) + std::string(raw));
  return *this;
}
GgufBuilder& GgufBuilder::add_text(const std::string& key, std::string_view value) {
  return add_raw(key, 8, gguf_text(value));
}
GgufBuilder& GgufBuilder::add_u32(const std::string& key, std::uint32_t value) {
  return add_raw(key, 4, raw_bytes(value));
}
GgufBuilder& GgufBuilder::add_f32(const std::string& key, float value) {
  return add_raw(key, 6, raw_bytes(value));
}
GgufBuilder& GgufBuilder::add_bool(const std::string& key, bool value) {
  return add_raw(key, 7, raw_bytes<std::uint8_t>(value ? 1 : 0));
}

GgufBuilder& GgufBuilder::add_texts(const std::string& key, const std::vector<std::string>& values) {
  std::string raw = raw_bytes<std::uint32_t>(8) + raw_bytes<std::uint64_t>(values.size());
  for (const std::string& value : values) raw += gguf_text(value);
  return add_raw(key, 9, raw);
}
GgufBuilder& GgufBuilder::add_f32s(const std::string& key, const std::vector<float>& values) {
  std::string raw = raw_bytes<std::uint32_t>(6) + raw_bytes<std::uint64_t>(values.size());
  for (const float value : values) raw += raw_bytes(value);
  return add_raw(key, 9, raw);
}
GgufBuilder& GgufBuilder::add_i32s(const std::string& key, const std::vector<std::int32_t>& values) {
  std::string raw = raw_bytes<std::uint32_t>(5) + raw_bytes<std::uint64_t>(values.size());
  for (const std::int32_t value : values) raw += raw_bytes(value);
  return add_raw(key, 9, raw);
}

GgufBuilder& GgufBuilder::add_tensor(const std::string& name, const std::vector<std::int64_t>& shape,
                                     std::uint32_t type, std::string bytes) {
  Tensor tensor;
  tensor.name = name;
  tensor.dims.assign(shape.rbegin(), shape.rend());
  tensor.type = type;
  tensor.bytes = std::move(bytes);
  tensors.push_back(std::move(tensor));
  return *this;
}

std::string GgufBuilder::build() const {
  std::string file = "GGUF" + raw_bytes(version);
  file += raw_bytes(static_cast<std::int64_t>(tensors.size()) + tensor_count_off_by);
  file += raw_bytes(static_cast<std::int64_t>(pairs_.size()) + key_count_off_by);
  for (const std::string& pair : pairs_) file += pair;
  const auto pad = [this](std::string& bytes) {
    bytes.append((alignment - bytes.size() % alignment) % alignment, '\0');
  };
  std::string data;
  for (const Tensor& tensor : tensors) {
    file += gguf_text(tensor.name) + raw_bytes(static_cast<std::uint32_t>(tensor.dims.size()));
    for (const std::uint64_t extent : tensor.dims) file += raw_bytes(extent);
    file += raw_bytes(tensor.type) + raw_bytes(static_cast<std::int64_t>(data.size()) + tensor.offset_off_by);
    data += tensor.bytes;
    pad(data);
  }
  pad(file);
  return file + data;
}

}  // namespace lorikeet::test
