// SPDX-License-Identifier: Apache-2.0
#include "core/model/weight_source.h"

#include <numeric>

#include "core/model/model_files.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct TypeFacts {
  StorageType type;
  const char* name;
  std::int64_t elements, bytes;
};
constexpr TypeFacts facts[] = {
    {StorageType::f32, "f32", 1, 4},       {StorageType::f16, "f16", 1, 2},
    {StorageType::bf16, "bf16", 1, 2},     {StorageType::q4_0, "q4_0", 32, 18},
    {StorageType::q4_1, "q4_1", 32, 20},   {StorageType::q5_0, "q5_0", 32, 22},
    {StorageType::q5_1, "q5_1", 32, 24},   {StorageType::q8_0, "q8_0", 32, 34},
    {StorageType::q4_k, "q4_k", 256, 144}, {StorageType::q5_k, "q5_k", 256, 176},
    {StorageType::q6_k, "q6_k", 256, 210}, {StorageType::other, "other", 0, 0},
};
const TypeFacts& facts_of(StorageType type) {
  return facts[static_cast<std::size_t>(type)];
}

}  // namespace

const char* to_string(StorageType type) {
  return facts_of(type).name;
}
std::int64_t block_elements(StorageType type) {
  return facts_of(type).elements;
}
std::int64_t block_bytes(StorageType type) {
  return facts_of(type).bytes;
}

StorageType storage_type_of(std::string_view safetensors_dtype) {
  if (safetensors_dtype == "F32") return StorageType::f32;
  if (safetensors_dtype == "F16") return StorageType::f16;
  if (safetensors_dtype == "BF16") return StorageType::bf16;
  return StorageType::other;
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  std::string text;
  for (const std::int64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text.empty() ? "one number" : text;
}

std::int64_t SourceTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

const SourceTensor& require_tensor(const WeightSource& source, const std::string& name,
                                   const std::vector<std::int64_t>& shape) {
  const SourceTensor* tensor = source.find(name);
  if (!tensor) throw Error(ErrorCode::not_found, "The model lacks a tensor", source.path() + ": " + name);
  if (tensor->shape != shape) {
    throw Error(
        ErrorCode::bad_format,
        "The tensor is " + shape_text(tensor->shape) + ", the configuration asks for " + shape_text(shape),
        source.path() + ": " + name);
  }
  if (tensor->type == StorageType::other) {
    throw Error(ErrorCode::unsupported, "Tensors stored as " + tensor->dtype + " cannot be read yet",
                source.path() + ": " + name, "Get the model with F32, F16 or BF16 weights");
  }
  return *tensor;
}

std::unique_ptr<WeightSource> open_weight_source(const std::string& path) {
  ModelFiles files = locate_model(path);
  if (files.kind == ModelFiles::Kind::gguf) return open_gguf_weights(files.path);
  return open_hf_folder(std::move(files));
}

}  // namespace lorikeet
