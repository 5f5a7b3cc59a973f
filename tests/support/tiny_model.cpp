// SPDX-License-Identifier: Apache-2.0
#include "tests/support/tiny_model.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/json.h"
#include "core/model/check_model.h"
#include "core/model/safetensors.h"
#include "kernels/base/half.h"
#include "kernels/base/random.h"
#include "tests/support/gguf_builder.h"

namespace lorikeet::test {
namespace {

float rounded(float value, const std::string& dtype) {
  if (dtype == "F16") return f16_to_f32(f32_to_f16(value));
  if (dtype == "BF16") return bf16_to_f32(f32_to_bf16(value));
  return value;
}

/// The letter a byte has in byte-level vocabularies (formats.md §6.2), as UTF-8.
std::string byte_letter(int byte) {
  int code = byte;
  const auto printable = [](int b) {
    return (b >= 0x21 && b <= 0x7e) || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
  };
  if (!printable(byte)) {
    code = 0x100;
    for (int b = 0; b < byte; ++b) code += printable(b) ? 0 : 1;
  }
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xc0 | (code >> 6)), static_cast<char>(0x80 | (code & 0x3f))};
}

std::vector<std::string> vocabulary(const TinyModel& model) {
  std::vector<std::string> tokens = {"<unk>", "<s>", "</s>"};
  for (int byte = 0; byte < 256; ++byte) tokens.push_back(byte_letter(byte));
  tokens.push_back(byte_letter(' ') + "t");
  while (static_cast<std::int64_t>(tokens.size()) < model.vocab_size) {
    tokens.push_back("[PAD" + std::to_string(tokens.size()) + "]");
  }
  return tokens;
}

std::string tokenizer_json(const TinyModel& model) {
  const std::vector<std::string> tokens = vocabulary(model);
  Json json;
  json["version"] = "1.0";
  json["added_tokens"] = Json::array();
  for (int id = 0; id < 3; ++id) {
    json["added_tokens"].push_back({{"id", id},
                                    {"content", tokens[static_cast<std::size_t>(id)]},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  }
  const Json byte_level = {
      {"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  json["normalizer"] = nullptr;
  json["pre_tokenizer"] = byte_level;
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single",
       {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}}},
      {"pair", Json::array()},
      {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {1}}, {"tokens", {"<s>"}}}}}}};
  json["decoder"] = byte_level;
  Json vocab = Json::object();
  for (std::size_t id = 0; id < tokens.size(); ++id) vocab[tokens[id]] = id;
  json["model"] = {{"type", "BPE"},
                   {"unk_token", "<unk>"},
                   {"byte_fallback", false},
                   {"vocab", vocab},
                   {"merges", Json::array({byte_letter(' ') + " t"})}};
  return dump_json(json, 1);
}

/// llama.cpp's order of a rotated head's rows: (2, d/2) seen as (d/2, 2).
std::vector<float> interleaved(const TinyTensor& tensor, std::int64_t heads) {
  const std::int64_t rows = tensor.shape[0], columns = static_cast<std::int64_t>(tensor.values.size()) / rows;
  const std::int64_t half = rows / heads / 2;
  std::vector<float> out(tensor.values.size());
  for (std::int64_t head = 0; head < heads; ++head) {
    for (std::int64_t i = 0; i < half; ++i) {
      for (std::int64_t p = 0; p < 2; ++p) {
        const std::int64_t to = head * 2 * half + 2 * i + p, from = head * 2 * half + p * half + i;
        std::memcpy(&out[static_cast<std::size_t>(to * columns)],
                    &tensor.values[static_cast<std::size_t>(from * columns)],
                    static_cast<std::size_t>(columns) * sizeof(float));
      }
    }
  }
  return out;
}

std::string gguf_name(std::string name) {
  const auto replace = [&name](const std::string& from, const std::string& to) {
    if (const auto at = name.find(from); at != std::string::npos) name.replace(at, from.size(), to);
  };
  replace("model.layers.", "blk.");
  replace("model.embed_tokens", "token_embd");
  replace("model.norm", "output_norm");
  replace("lm_head", "output");
  replace("input_layernorm", "attn_norm");
  replace("post_attention_layernorm", "ffn_norm");
  replace("self_attn.o_proj", "attn_output");
  for (const char* letter : {"q", "k", "v"})
    replace(std::string("self_attn.") + letter + "_proj", std::string("attn_") + letter);
  for (const char* part : {"gate", "up", "down"})
    replace(std::string("mlp.") + part + "_proj", std::string("ffn_") + part);
  return name;
}

void add_metadata(GgufBuilder& file, const TinyModel& model) {
  const auto u32 = [&](const char* key, std::int64_t value) {
    file.add_u32(key, static_cast<std::uint32_t>(value));
  };
  file.add_text("general.architecture", "llama").add_text("general.name", "tiny");
  u32("llama.vocab_size", model.vocab_size);
  u32("llama.context_length", model.context);
  u32("llama.embedding_length", model.hidden_size);
  u32("llama.block_count", model.layers);
  u32("llama.feed_forward_length", model.intermediate_size);
  u32("llama.attention.head_count", model.heads);
  u32("llama.attention.head_count_kv", model.kv_heads);
  u32("llama.attention.key_length", model.head_dim);
  u32("llama.attention.value_length", model.head_dim);
  u32("llama.rope.dimension_count", model.head_dim);
  file.add_f32("llama.attention.layer_norm_rms_epsilon", 1e-5f).add_f32("llama.rope.freq_base", 10000.0f);
  const std::vector<std::string> tokens = vocabulary(model);
  std::vector<std::int32_t> types(tokens.size(), 5);
  for (std::size_t id = 0; id < tokens.size() && id < 260; ++id) types[id] = id < 3 ? 3 : 1;
  file.add_text("tokenizer.ggml.model", "gpt2").add_text("tokenizer.ggml.pre", "gpt-2");
  file.add_texts("tokenizer.ggml.tokens", tokens).add_i32s("tokenizer.ggml.token_type", types);
  file.add_texts("tokenizer.ggml.merges", {byte_letter(' ') + " t"});
  u32("tokenizer.ggml.bos_token_id", 1);
  u32("tokenizer.ggml.eos_token_id", 2);
  u32("tokenizer.ggml.unknown_token_id", 0);
  file.add_bool("tokenizer.ggml.add_bos_token", true);
}

}  // namespace

void write_text(const std::string& path, const std::string& content) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file << content;
  if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

std::string stored_bytes(const std::vector<float>& values, const std::string& dtype) {
  std::string bytes;
  for (const float value : values) {
    if (dtype == "F16")
      bytes += raw_bytes(f32_to_f16(value));
    else if (dtype == "BF16")
      bytes += raw_bytes(f32_to_bf16(value));
    else
      bytes += raw_bytes(value);
  }
  return bytes;
}

std::string safetensors_image(const std::vector<TinyTensor>& tensors, const std::string& dtype) {
  std::vector<SafetensorsPlan> plan;
  for (const TinyTensor& tensor : tensors) plan.push_back({tensor.name, dtype, tensor.shape});
  const SafetensorsLayout layout = plan_safetensors(plan);
  std::string image = layout.header;
  for (const SafetensorsEntry& entry : layout.tensors) {
    for (const TinyTensor& tensor : tensors) {
      if (tensor.name == entry.name) image += stored_bytes(tensor.values, dtype);
    }
  }
  return image;
}

ModelSpec tiny_spec(const TinyModel& model) {
  ModelSpec spec;
  spec.family = "llama";
  spec.name = "tiny";
  spec.vocab_size = model.vocab_size;
  spec.hidden_size = model.hidden_size;
  spec.intermediate_size = model.intermediate_size;
  spec.layers = model.layers;
  spec.heads = model.heads;
  spec.kv_heads = model.kv_heads;
  spec.head_dim = model.head_dim;
  spec.context = model.context;
  spec.norm_epsilon = 1e-5;
  spec.tied_head = model.tied_head;
  spec.qkv_bias = spec.o_bias = model.attention_bias;
  spec.rope.rotary_dim = model.head_dim;
  spec.rope.divisors = model.divisors;
  spec.bos_id = 1;
  spec.eos_ids = {2};
  return spec;
}

std::vector<TinyTensor> tiny_weights(const TinyModel& model) {
  std::vector<TinyTensor> tensors;
  for (const ExpectedTensor& expected : expected_tensors(tiny_spec(model))) {
    TinyTensor tensor{expected.name, expected.shape, {}};
    std::int64_t count = 1;
    for (const std::int64_t extent : expected.shape) count *= extent;
    RandomStream random({.seed = model.seed, .row = tensors.size()});
    const bool norm = expected.name.find("norm") != std::string::npos;
    for (std::int64_t i = 0; i < count; ++i) {
      const auto noise = static_cast<float>(random.next_normal());
      tensor.values.push_back(rounded(norm ? 1 + 0.1f * noise : 0.08f * noise, model.dtype));
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::string tiny_config(const TinyModel& model) {
  Json json;
  json["architectures"] = {"LlamaForCausalLM"};
  json["attention_bias"] = model.attention_bias;
  json["bos_token_id"] = 1;
  json["eos_token_id"] = 2;
  json["head_dim"] = model.head_dim;
  json["hidden_act"] = "silu";
  json["hidden_size"] = model.hidden_size;
  json["intermediate_size"] = model.intermediate_size;
  json["max_position_embeddings"] = model.context;
  json["model_type"] = "llama";
  json["num_attention_heads"] = model.heads;
  json["num_hidden_layers"] = model.layers;
  json["num_key_value_heads"] = model.kv_heads;
  json["rms_norm_eps"] = 1e-5;
  json["rope_scaling"] = model.rope_json.empty() ? Json(nullptr) : parse_json(model.rope_json, "rope_json");
  json["rope_theta"] = 10000.0;
  json["tie_word_embeddings"] = model.tied_head;
  json["torch_dtype"] = model.dtype == "F32" ? "float32" : model.dtype == "F16" ? "float16" : "bfloat16";
  json["vocab_size"] = model.vocab_size;
  return dump_json(json, 2);
}

void write_tiny_folder(const std::string& folder, const TinyModel& model) {
  write_text(folder + "/config.json", tiny_config(model));
  write_text(folder + "/generation_config.json", R"({"bos_token_id": 1, "eos_token_id": [2]})");
  write_text(folder + "/tokenizer.json", tokenizer_json(model));
  write_text(
      folder + "/tokenizer_config.json",
      R"({"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "tokenizer_class": "PreTrainedTokenizerFast"})");
  const std::vector<TinyTensor> tensors = tiny_weights(model);
  if (model.shards == 1)
    return write_text(folder + "/model.safetensors", safetensors_image(tensors, model.dtype));
  Json index;
  std::uint64_t total = 0;
  const auto shards = static_cast<std::size_t>(model.shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    const std::vector<TinyTensor> part(
        tensors.begin() + static_cast<std::ptrdiff_t>(tensors.size() * shard / shards),
        tensors.begin() + static_cast<std::ptrdiff_t>(tensors.size() * (shard + 1) / shards));
    char name[64];
    std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", shard + 1, shards);
    write_text(folder + "/" + name, safetensors_image(part, model.dtype));
    for (const TinyTensor& tensor : part) {
      index["weight_map"][tensor.name] = name;
      total += stored_bytes(tensor.values, model.dtype).size();
    }
  }
  index["metadata"]["total_size"] = total;
  write_text(folder + "/model.safetensors.index.json", dump_json(index, 2));
}

void write_tiny_gguf(const std::string& path, const TinyModel& model) {
  GgufBuilder file;
  add_metadata(file, model);
  const std::uint32_t type = model.dtype == "F32" ? 0 : model.dtype == "F16" ? 1 : 30;
  for (const TinyTensor& tensor : tiny_weights(model)) {
    const bool q = tensor.name.find("q_proj") != std::string::npos,
               k = tensor.name.find("k_proj") != std::string::npos;
    const std::vector<float> values = q   ? interleaved(tensor, model.heads)
                                      : k ? interleaved(tensor, model.kv_heads)
                                          : tensor.values;
    const bool row = tensor.shape.size() == 1;
    // Norms are rounded as the folder has them and stay F32, as the converter keeps them.
    file.add_tensor(gguf_name(tensor.name), tensor.shape, row ? 0 : type,
                    stored_bytes(values, row ? "F32" : model.dtype));
  }
  if (!model.divisors.empty()) {
    file.add_tensor("rope_freqs.weight", {static_cast<std::int64_t>(model.divisors.size())}, 0,
                    stored_bytes(model.divisors, "F32"));
  }
  write_text(path, file.build());
}

}  // namespace lorikeet::test
