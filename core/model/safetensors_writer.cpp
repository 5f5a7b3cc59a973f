// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/checked.h"
#include "core/base/json.h"
#include "core/model/safetensors.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

std::uint64_t bytes_of(const SafetensorsPlan& tensor, const SafetensorsDtype& dtype) {
  const auto elements = checked_elements(tensor.shape);
  const auto bits =
      elements ? checked_multiply(*elements, static_cast<std::uint64_t>(dtype.bits)) : std::nullopt;
  if (!bits || *bits % 8 != 0)
    throw Error(ErrorCode::invalid_argument, "The tensor's shape cannot be stored", tensor.name);
  return *bits / 8;
}

std::string header_json(const std::vector<SafetensorsEntry>& tensors) {
  Json header;
  header["__metadata__"]["format"] = "pt";
  std::string text = dump_json(header);
  text.pop_back();
  // Joined by hand: an ordered object looks each new key up in all before it.
  for (const SafetensorsEntry& tensor : tensors) {
    Json entry;
    entry["dtype"] = tensor.dtype->name;
    entry["shape"] = tensor.shape;
    entry["data_offsets"] = {tensor.begin, tensor.end};
    text += "," + dump_json(Json(tensor.name)) + ":" + dump_json(entry);
  }
  text += "}";
  text.append((8 - text.size() % 8) % 8, ' ');
  return text;
}

}  // namespace

SafetensorsLayout plan_safetensors(std::vector<SafetensorsPlan> tensors) {
  const auto dtype_of = [](const SafetensorsPlan& tensor) {
    const SafetensorsDtype* dtype = find_safetensors_dtype(tensor.dtype);
    if (!dtype) throw Error(ErrorCode::invalid_argument, "Unknown dtype " + tensor.dtype, tensor.name);
    return dtype;
  };
  std::sort(tensors.begin(), tensors.end(), [&](const auto& a, const auto& b) {
    const int rank_a = dtype_of(a)->rank, rank_b = dtype_of(b)->rank;
    return rank_a != rank_b ? rank_a > rank_b : a.name < b.name;
  });
  SafetensorsLayout layout;
  std::uint64_t offset = 0;
  for (SafetensorsPlan& tensor : tensors) {
    const SafetensorsDtype* dtype = dtype_of(tensor);
    const auto end = checked_add(offset, bytes_of(tensor, *dtype));
    if (!end) throw Error(ErrorCode::invalid_argument, "The file would be too large", tensor.name);
    layout.tensors.push_back({std::move(tensor.name), dtype, std::move(tensor.shape), offset, *end});
    offset = *end;
  }
  std::vector<std::string> names;
  for (const auto& tensor : layout.tensors) names.push_back(tensor.name);
  std::sort(names.begin(), names.end());
  if (const auto twice = std::adjacent_find(names.begin(), names.end()); twice != names.end()) {
    throw Error(ErrorCode::invalid_argument, "Two tensors have the same name", *twice);
  }
  const std::string json = header_json(layout.tensors);
  const std::uint64_t length = json.size();
  layout.header.resize(8);
  std::memcpy(layout.header.data(), &length, 8);
  layout.header += json;
  layout.file_bytes = layout.header.size() + offset;
  return layout;
}

SafetensorsWriter::SafetensorsWriter(const std::string& path, SafetensorsLayout layout)
    : layout_(std::move(layout)), file_(path) {
  file_.write(layout_.header);
}

void SafetensorsWriter::write(std::span<const std::byte> bytes) {
  while (next_ < layout_.tensors.size() && layout_.tensors[next_].bytes() == written_) {
    ++next_;
    written_ = 0;
  }
  if (bytes.empty()) return;
  if (next_ == layout_.tensors.size() || bytes.size() > layout_.tensors[next_].bytes() - written_) {
    throw Error(ErrorCode::invalid_argument, "More bytes than the tensor has",
                next_ < layout_.tensors.size() ? layout_.tensors[next_].name : "end of file");
  }
  file_.write(bytes.data(), bytes.size());
  written_ += bytes.size();
}

void SafetensorsWriter::commit() {
  write({});
  if (next_ != layout_.tensors.size()) {
    throw Error(ErrorCode::invalid_argument, "A tensor is unfinished", layout_.tensors[next_].name);
  }
  file_.commit();
}

}  // namespace lorikeet
