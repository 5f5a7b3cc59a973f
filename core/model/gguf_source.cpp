// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_map>

#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/model_files.h"
#include "core/model/spec_limits.h"
#include "kernels/base/error.h"
#include "kernels/base/half.h"

namespace lorikeet {
namespace {

struct NamePair {
  const char* gguf;
  const char* hf;
};
constexpr NamePair model_names[] = {
    {"token_embd", "model.embed_tokens"}, {"output_norm", "model.norm"}, {"output", "lm_head"}};
constexpr NamePair layer_names[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"}};

template <std::size_t n>
std::optional<std::string> renamed(const NamePair (&names)[n], std::string_view stem) {
  for (const NamePair& pair : names) {
    if (stem == pair.gguf) return pair.hf;
  }
  return std::nullopt;
}

/// Hugging Face name of a GGUF tensor (formats.md §7.4); one without a counterpart keeps its own.
std::string hf_name(const std::string& name) {
  const std::string_view whole = name;
  const std::size_t dot = whole.rfind('.');
  if (dot == std::string_view::npos) return name;
  const std::string ending(whole.substr(dot));
  if (ending != ".weight" && ending != ".bias") return name;
  const std::string_view stem = whole.substr(0, dot);
  if (const auto hf = renamed(model_names, stem)) return *hf + ending;
  if (stem.substr(0, 4) != "blk.") return name;
  const std::size_t next = stem.find('.', 4);
  if (next == std::string_view::npos || next == 4) return name;
  const std::string_view layer = stem.substr(4, next - 4);
  if (layer.find_first_not_of("0123456789") != std::string_view::npos) return name;
  const auto hf = renamed(layer_names, stem.substr(next + 1));
  return hf ? "model.layers." + std::string(layer) + "." + *hf + ending : name;
}

bool is_module(const std::string& hf, const char* module) {
  return hf.find(std::string(".") + module + ".") != std::string::npos;
}

/// A GGUF file whose tensors carry Hugging Face names.
class GgufSource : public WeightSource {
 public:
  explicit GgufSource(const std::string& path) : file_(path) {
    const ModelSpec spec = spec_from_gguf(file_);
    for (const GgufTensor& entry : file_.tensors()) {
      SourceTensor tensor;
      tensor.name = hf_name(entry.name);
      tensor.type = entry.type;
      tensor.dtype = entry.dtype;
      tensor.shape = entry.shape;
      tensor.bytes = file_.bytes(entry);
      // llama.cpp's converter interleaves the two halves of each rotated head of q and k.
      if (is_module(tensor.name, "self_attn.q_proj")) tensor.permuted_heads = spec.heads;
      if (is_module(tensor.name, "self_attn.k_proj")) tensor.permuted_heads = spec.kv_heads;
      if (!by_name_.emplace(tensor.name, tensors_.size()).second) {
        throw Error(ErrorCode::bad_format, "Two tensors stand for " + tensor.name, path + ": " + entry.name);
      }
      tensors_.push_back(std::move(tensor));
    }
  }

  const std::string& path() const override { return file_.path(); }
  const std::vector<SourceTensor>& tensors() const override { return tensors_; }
  const SourceTensor* find(const std::string& name) const override {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &tensors_[found->second];
  }
  void forget(const SourceTensor& tensor) const override {
    const auto found = by_name_.find(tensor.name);
    if (found != by_name_.end()) file_.forget(file_.tensors()[found->second]);
  }

 private:
  GgufFile file_;
  std::vector<SourceTensor> tensors_;  ///< in the order of the file's own table
  std::unordered_map<std::string, std::size_t> by_name_;
};

[[noreturn]] void unsupported(const std::string& what, const std::string& where,
                              const std::string& hint = {}) {
  throw Error(ErrorCode::unsupported, what, where, hint);
}

void refuse_what_is_not_built(const GgufFile& file) {
  if (file.text("general.type", "model") == "adapter") {
    throw Error(ErrorCode::bad_format, "This file is an adapter, not a base model", file.path());
  }
  const std::string architecture = file.text("general.architecture");
  if (architecture.empty())
    throw Error(ErrorCode::bad_format, "The file lacks general.architecture", file.path());
  if (architecture != "llama") {
    unsupported("Models of the architecture \"" + architecture + "\" cannot be used yet",
                file.path() + ": general.architecture", "Models of the Llama family can");
  }
  if (file.integer("split.count", 1, 0, 1 << 16) > 1) {
    unsupported("GGUF files split in parts cannot be read yet", file.path() + ": split.count",
                "Join the parts into one file");
  }
  if (file.integer("llama.expert_count", 0, 0, 1 << 16) > 0) {
    unsupported("Mixtures of experts cannot be used yet", file.path() + ": llama.expert_count");
  }
}

/// rope_freqs.weight: what the inverse frequencies are divided by (llama3 scaling, formats.md §7.3).
std::vector<float> read_divisors(const GgufFile& file) {
  const GgufTensor* tensor = file.find("rope_freqs.weight");
  if (!tensor) return {};
  if (tensor->type != StorageType::f32 || tensor->shape.size() != 1 ||
      tensor->shape[0] > SpecLimits::head_dim) {
    throw Error(ErrorCode::bad_format, "The RoPE divisors have to be one row of F32",
                file.path() + ": rope_freqs.weight");
  }
  std::vector<float> divisors(static_cast<std::size_t>(tensor->shape[0]));
  const std::span<const std::byte> bytes = file.bytes(*tensor);
  std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(divisors.data()));
  return divisors;
}

RopeSpec read_rope(const GgufFile& file, std::int64_t head_dim) {
  RopeSpec rope;
  rope.theta = file.number("llama.rope.freq_base", 10000.0);
  rope.rotary_dim = file.integer("llama.rope.dimension_count", head_dim, 1, SpecLimits::head_dim);
  if (rope.rotary_dim != head_dim)
    unsupported("Partly rotated heads cannot be used yet", file.path() + ": llama.rope.dimension_count");
  rope.divisors = read_divisors(file);
  const std::string kind = file.text("llama.rope.scaling.type", "none");
  double factor = file.number("llama.rope.scaling.factor", 0);
  if (factor == 0) factor = file.number("llama.rope.scale_linear", 0);
  if (kind != "none" && kind != "linear") {
    unsupported("RoPE scaling of the kind \"" + kind + "\" cannot be used yet",
                file.path() + ": llama.rope.scaling.type");
  }
  // A factor without a kind is linear, as older files have it.
  if (kind == "none" && !(factor > 1)) return rope;
  rope.kind = RopeSpec::Kind::linear;
  rope.factor = factor == 0 ? 1 : factor;
  return rope;
}

void read_ids(const GgufFile& file, ModelSpec& spec) {
  const auto id = [&](const char* key) {
    return static_cast<std::int32_t>(file.integer(std::string("tokenizer.ggml.") + key, -1, 0, 0xffffffff));
  };
  spec.bos_id = id("bos_token_id");
  spec.pad_id = id("padding_token_id");
  if (spec.pad_id >= spec.vocab_size) spec.pad_id = -1;
  for (const char* key : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    const std::int32_t end = id(key);
    const bool known = std::find(spec.eos_ids.begin(), spec.eos_ids.end(), end) != spec.eos_ids.end();
    if (end >= 0 && !known) spec.eos_ids.push_back(end);
  }
}

/// GGUF has f32 where the configuration had a decimal: the shortest decimal that gives this f32 is what was
/// written.
double as_written(double stored) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, static_cast<float>(stored));
  double value = stored;
  std::from_chars(text, end.ptr, value);
  return value;
}

std::int64_t required(const GgufFile& file, const std::string& key, std::int64_t high) {
  if (!file.has(key))
    throw Error(ErrorCode::bad_format, "The metadata lacks a value", file.path() + ": " + key);
  return file.integer(key, 0, 1, high);
}

}  // namespace

ModelSpec spec_from_gguf(const GgufFile& file) {
  refuse_what_is_not_built(file);
  ModelSpec spec;
  spec.family = "llama";
  spec.hidden_size = required(file, "llama.embedding_length", SpecLimits::hidden);
  spec.intermediate_size = required(file, "llama.feed_forward_length", SpecLimits::intermediate);
  spec.layers = required(file, "llama.block_count", SpecLimits::layers);
  spec.context = required(file, "llama.context_length", SpecLimits::context);
  spec.heads = required(file, "llama.attention.head_count", SpecLimits::heads);
  spec.kv_heads = file.integer("llama.attention.head_count_kv", spec.heads, 1, SpecLimits::heads);
  const std::string key = "llama.attention.key_length";
  if (!file.has(key) && spec.hidden_size % spec.heads != 0) {
    throw Error(ErrorCode::bad_format, "The hidden size is no multiple of the number of heads",
                file.path() + ": " + key);
  }
  spec.head_dim = file.integer(key, spec.hidden_size / spec.heads, 1, SpecLimits::head_dim);
  if (file.integer("llama.attention.value_length", spec.head_dim, 1, SpecLimits::head_dim) != spec.head_dim) {
    unsupported("Keys and values of different lengths cannot be used yet",
                file.path() + ": llama.attention.value_length");
  }
  if (!file.has("llama.attention.layer_norm_rms_epsilon")) {
    throw Error(ErrorCode::bad_format, "The metadata lacks a value",
                file.path() + ": llama.attention.layer_norm_rms_epsilon");
  }
  spec.norm_epsilon = as_written(file.number("llama.attention.layer_norm_rms_epsilon", 0));
  spec.sliding_window = file.integer("llama.attention.sliding_window", 0, 0, SpecLimits::context);
  const GgufTensor* embedding = file.find("token_embd.weight");
  if (!embedding || embedding->shape.size() != 2) {
    throw Error(ErrorCode::bad_format, "The file has no model weights (no token_embd.weight)", file.path(),
                "Vocabulary-only files cannot be trained");
  }
  spec.vocab_size = embedding->shape[0];
  if (file.integer("llama.vocab_size", spec.vocab_size, 1, SpecLimits::vocab) != spec.vocab_size) {
    throw Error(ErrorCode::bad_format, "The embedding has another number of rows",
                file.path() + ": llama.vocab_size");
  }
  spec.tied_head = file.find("output.weight") == nullptr;
  spec.qkv_bias = spec.o_bias = file.find("blk.0.attn_q.bias") != nullptr;
  spec.mlp_bias = file.find("blk.0.ffn_gate.bias") != nullptr;
  spec.rope = read_rope(file, spec.head_dim);
  read_ids(file, spec);
  check_spec(spec, file.path());
  return spec;
}

std::unique_ptr<WeightSource> open_gguf_weights(const std::string& path) {
  return std::make_unique<GgufSource>(path);
}

}  // namespace lorikeet
