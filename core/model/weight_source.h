// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

struct ModelSpec;

/// How a tensor's numbers lie in a file (formats.md §1.1 and §7.1).
/// `other` is listed but cannot be read as numbers here; SourceTensor::dtype names it.
enum class StorageType : std::uint8_t {
  f32,
  f16,
  bf16,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
  other
};

const char* to_string(StorageType type);
std::int64_t block_elements(StorageType type);  ///< numbers in one block: 1, 32 or 256; 0 for other
std::int64_t block_bytes(StorageType type);     ///< 0 for other

/// The type of a safetensors dtype: f32, f16, bf16 or other.
StorageType storage_type_of(std::string_view safetensors_dtype);
/// A shape for people, for example "64 x 32".
std::string shape_text(const std::vector<std::int64_t>& shape);

/// A tensor of a source under its Hugging Face name. Row-major; shape as in PyTorch, (out,in) for linear
/// layers.
struct SourceTensor {
  std::string name;  ///< for example "model.layers.0.self_attn.q_proj.weight"
  StorageType type = StorageType::f32;
  std::string dtype;  ///< the type as the file calls it, for example "BF16" or "Q4_K"
  std::vector<std::int64_t> shape;
  std::span<const std::byte> bytes;  ///< inside a mapped file owned by the source
  std::int64_t permuted_heads =
      0;            ///< > 0: rows lie in GGUF's interleaved order of that many heads (formats.md §7.4)
  float added = 0;  ///< what a stored number lacks of the real one: GGUF keeps 1 + w of Gemma's norms

  std::int64_t elements() const;
};

/// Named tensors of a base model on disk: an HF folder (single or sharded safetensors) or a GGUF file.
/// Opening reads headers only and checks every name, shape and range before use; nothing is loaded.
class WeightSource {
 public:
  virtual ~WeightSource() = default;
  virtual const std::string& path() const = 0;
  virtual const std::vector<SourceTensor>& tensors() const = 0;
  /// The tensor of this name or nullptr.
  virtual const SourceTensor* find(const std::string& name) const = 0;
  /// Gives the pages of a tensor back after it was read.
  virtual void forget(const SourceTensor& tensor) const = 0;
};

/// The tensor of this name and shape, readable as numbers. Throws Error: not_found (no such tensor),
/// bad_format (another shape), unsupported (a type that cannot be read here); each names the tensor.
const SourceTensor& require_tensor(const WeightSource& source, const std::string& name,
                                   const std::vector<std::int64_t>& shape);

/// Opens a folder or a .gguf file. Pickle weights (.bin, .pt, renamed or not) are refused with what to do.
/// Throws Error: not_found, bad_format (truncated, overlapping, lying headers), unsupported (type or family).
std::unique_ptr<WeightSource> open_weight_source(const std::string& path);

}  // namespace lorikeet
