// SPDX-License-Identifier: Apache-2.0
#include "tests/support/llama2c_model.h"

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "core/base/files.h"
#include "core/base/json.h"
#include "tests/support/tiny_model.h"

namespace lorikeet::test {
namespace {

/// Reads plain values one after the other.
class Reader {
 public:
  explicit Reader(const std::string& path) : bytes_(read_file(path)) {}

  template <typename T>
  T value() {
    T result;
    std::memcpy(&result, take(sizeof result), sizeof result);
    return result;
  }
  std::vector<float> floats(std::int64_t count) {
    std::vector<float> result(static_cast<std::size_t>(count));
    std::memcpy(result.data(), take(result.size() * sizeof(float)), result.size() * sizeof(float));
    return result;
  }
  std::string text(std::size_t length) { return std::string(take(length), length); }
  bool at_end() const { return at_ == bytes_.size(); }

 private:
  const char* take(std::size_t count) {
    if (count > bytes_.size() - at_) throw std::runtime_error("the file is shorter than its header says");
    at_ += count;
    return bytes_.data() + at_ - count;
  }
  std::string bytes_;
  std::size_t at_ = 0;
};

struct Header {
  std::int32_t hidden, inner, layers, heads, kv_heads, vocabulary, context;
};

/// Rows (head, i, p) to rows (head, p, i).
std::vector<float> half_split(const std::vector<float>& rows, std::int64_t heads, std::int64_t columns) {
  const std::int64_t head_dim = static_cast<std::int64_t>(rows.size()) / columns / heads, half = head_dim / 2;
  std::vector<float> result(rows.size());
  for (std::int64_t row = 0; row < heads * head_dim; ++row) {
    const std::int64_t head = row / head_dim, in_head = row % head_dim;
    const std::int64_t target = head * head_dim + (in_head % 2) * half + in_head / 2;
    std::copy_n(rows.begin() + row * columns, columns, result.begin() + target * columns);
  }
  return result;
}

std::vector<TinyTensor> read_weights(Reader& reader, const Header& h) {
  const std::int64_t key = static_cast<std::int64_t>(h.hidden) / h.heads * h.kv_heads;
  std::vector<TinyTensor> tensors;
  tensors.push_back(
      {"model.embed_tokens.weight", {h.vocabulary, h.hidden}, reader.floats(h.vocabulary * h.hidden)});
  const auto of_layers = [&](const std::string& name, std::vector<std::int64_t> shape,
                             std::int64_t heads = 0) {
    for (std::int32_t layer = 0; layer < h.layers; ++layer) {
      std::int64_t count = 1;
      for (const std::int64_t extent : shape) count *= extent;
      std::vector<float> values = reader.floats(count);
      if (heads > 0) values = half_split(values, heads, h.hidden);
      tensors.push_back(
          {"model.layers." + std::to_string(layer) + "." + name + ".weight", shape, std::move(values)});
    }
  };
  of_layers("input_layernorm", {h.hidden});
  of_layers("self_attn.q_proj", {h.hidden, h.hidden}, h.heads);
  of_layers("self_attn.k_proj", {key, h.hidden}, h.kv_heads);
  of_layers("self_attn.v_proj", {key, h.hidden});
  of_layers("self_attn.o_proj", {h.hidden, h.hidden});
  of_layers("post_attention_layernorm", {h.hidden});
  of_layers("mlp.gate_proj", {h.inner, h.hidden});
  of_layers("mlp.down_proj", {h.hidden, h.inner});
  of_layers("mlp.up_proj", {h.inner, h.hidden});
  tensors.push_back({"model.norm.weight", {h.hidden}, reader.floats(h.hidden)});
  return tensors;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(0x80 | (value & 0x7f));
  return bytes + static_cast<char>(value);
}
std::string field(int number, const std::string& content) {
  return varint(static_cast<std::uint64_t>(number) << 3 | 2) + varint(content.size()) + content;
}
std::string field(int number, std::uint64_t value) {
  return varint(static_cast<std::uint64_t>(number) << 3) + varint(value);
}

/// The vocabulary as a SentencePiece model (formats.md §6.5): BPE with byte fallback, dummy prefix, spaces
/// kept.
std::string sentencepiece_model(const std::string& vocabulary, std::int32_t count) {
  Reader reader(vocabulary);
  reader.value<std::int32_t>();  // longest token
  std::string model;
  for (std::int32_t id = 0; id < count; ++id) {
    const auto score = reader.value<float>();
    std::string piece = reader.text(static_cast<std::size_t>(reader.value<std::int32_t>()));
    std::uint64_t type = 1;
    if (id == 0) type = 2;
    if (id == 1 || id == 2) {
      type = 3;
      piece = id == 1 ? "<s>" : "</s>";
    }
    if (id >= 3 && id < 259) type = 6;
    std::string marked;
    for (const char c : piece) marked += type == 1 && c == ' ' ? "\xE2\x96\x81" : std::string(1, c);
    std::string score_bytes(4, '\0');
    std::memcpy(score_bytes.data(), &score, 4);
    model += field(1, field(1, marked) + varint(2 << 3 | 5) + score_bytes + field(3, type));
  }
  model += field(2, field(3, 2) + field(35, 1) + field(40, 0) + field(41, 1) + field(42, 2));
  model += field(3, field(1, std::string("identity")) + field(3, 1) + field(4, 0) + field(5, 1));
  return model;
}

}  // namespace

void convert_llama2c_model(const std::string& bin, const std::string& vocabulary, const std::string& folder) {
  Reader reader(bin);
  Header h{};
  for (std::int32_t* member :
       {&h.hidden, &h.inner, &h.layers, &h.heads, &h.kv_heads, &h.vocabulary, &h.context}) {
    *member = reader.value<std::int32_t>();
  }
  if (h.vocabulary <= 0) throw std::runtime_error("a head of its own is not expected here");
  std::filesystem::create_directories(folder);
  write_text(folder + "/model.safetensors", safetensors_image(read_weights(reader, h), "F32"));
  const Json config = {{"architectures", {"LlamaForCausalLM"}},
                       {"model_type", "llama"},
                       {"hidden_size", h.hidden},
                       {"intermediate_size", h.inner},
                       {"num_hidden_layers", h.layers},
                       {"num_attention_heads", h.heads},
                       {"num_key_value_heads", h.kv_heads},
                       {"vocab_size", h.vocabulary},
                       {"max_position_embeddings", h.context},
                       {"rms_norm_eps", 1e-5},
                       {"rope_theta", 10000.0},
                       {"tie_word_embeddings", true},
                       {"hidden_act", "silu"},
                       {"bos_token_id", 1},
                       {"eos_token_id", 2}};
  write_text(folder + "/config.json", dump_json(config, 2));
  write_text(folder + "/tokenizer.model", sentencepiece_model(vocabulary, h.vocabulary));
  write_text(
      folder + "/tokenizer_config.json",
      R"({"tokenizer_class": "LlamaTokenizer", "add_bos_token": true, "bos_token": "<s>", "eos_token": "</s>"})");
}

}  // namespace lorikeet::test
