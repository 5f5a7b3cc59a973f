// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/model_spec.h"

namespace lorikeet::test {

/// A random Llama small enough for any test. Its tokenizer has <unk>, <s>, </s>, one
/// token per byte and " t": vocab_size is 260 or more.
struct TinyModel {
  std::int64_t vocab_size = 260;
  std::int64_t hidden_size = 32;
  std::int64_t intermediate_size = 48;
  std::int64_t layers = 2;
  std::int64_t heads = 4;
  std::int64_t kv_heads = 2;
  std::int64_t head_dim = 8;
  std::int64_t context = 128;
  bool tied_head = true;
  bool attention_bias = false;
  std::string dtype = "F32";    ///< "F32", "F16" or "BF16": how the weights are stored
  std::string rope_json;        ///< value of rope_scaling in config.json, "" = null
  std::vector<float> divisors;  ///< rope_freqs.weight of the GGUF file
  int shards = 1;               ///< safetensors files
  std::uint64_t seed = 1;
};

/// One weight under its Hugging Face name; values are exact in the model's dtype.
struct TinyTensor {
  std::string name;
  std::vector<std::int64_t> shape;
  std::vector<float> values;
};

ModelSpec tiny_spec(const TinyModel& model);
/// The weights, the same for the folder and the GGUF file. Norms lie around 1, the rest has standard
/// deviation 0.08.
std::vector<TinyTensor> tiny_weights(const TinyModel& model);

/// Writes config.json, generation_config.json, model.safetensors (or shards and their index), tokenizer.json
/// and tokenizer_config.json into `folder`, which is made.
void write_tiny_folder(const std::string& folder, const TinyModel& model);
/// Writes the same model as a GGUF v3 file as llama.cpp's converter does: q and k rows interleaved.
void write_tiny_gguf(const std::string& path, const TinyModel& model);

/// The config.json of the folder.
std::string tiny_config(const TinyModel& model);
/// Bytes of values in a dtype ("F32", "F16", "BF16").
std::string stored_bytes(const std::vector<float>& values, const std::string& dtype);
/// A whole safetensors file image.
std::string safetensors_image(const std::vector<TinyTensor>& tensors, const std::string& dtype);
void write_text(const std::string& path, const std::string& content);

}  // namespace lorikeet::test
