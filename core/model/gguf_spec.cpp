// SPDX-License-Identifier: Apache-2.0
// The specification of a model from the metadata and tensor names of its GGUF file (formats.md §7.3).
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/rope.h"
#include "core/model/spec_limits.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct Architecture {
  const char* gguf;
  const char* family;
};
constexpr Architecture architectures[] = {{"llama", "llama"},  {"qwen2", "qwen2"}, {"qwen3", "qwen3"},
                                          {"phi2", "phi"},     {"phi3", "phi3"},   {"gemma", "gemma"},
                                          {"gemma2", "gemma2"}};

[[noreturn]] void unsupported(const std::string& what, const std::string& where,
                              const std::string& hint = {}) {
  throw Error(ErrorCode::unsupported, what, where, hint);
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

/// Reads the keys of one architecture.
class SpecReader {
 public:
  explicit SpecReader(const GgufFile& file) : file_(file) { refuse_what_is_not_a_model(); }

  ModelSpec read() {
    read_extents();
    read_family();
    read_rope();
    read_ids();
    check_spec(spec_, file_.path());
    return std::move(spec_);
  }

 private:
  std::string key(const char* name) const { return arch_ + "." + name; }
  std::string where(const std::string& key) const { return file_.path() + ": " + key; }
  std::int64_t whole(const char* name, std::int64_t fallback, std::int64_t low, std::int64_t high) const {
    return file_.integer(key(name), fallback, low, high);
  }
  std::int64_t required(const char* name, std::int64_t high) const {
    if (!file_.has(key(name)))
      throw Error(ErrorCode::bad_format, "The metadata lacks a value", where(key(name)));
    return whole(name, 0, 1, high);
  }

  void refuse_what_is_not_a_model() {
    if (file_.text("general.type", "model") == "adapter")
      throw Error(ErrorCode::bad_format, "This file is an adapter, not a base model", file_.path());
    arch_ = file_.text("general.architecture");
    if (arch_.empty())
      throw Error(ErrorCode::bad_format, "The file lacks general.architecture", file_.path());
    for (const Architecture& known : architectures) {
      if (arch_ == known.gguf) spec_.family = known.family;
    }
    if (spec_.family.empty()) {
      unsupported("Models of the architecture \"" + arch_ + "\" cannot be used yet",
                  where("general.architecture"),
                  "These can: llama (Mistral too), qwen2, qwen3, phi2, phi3, gemma and gemma2");
    }
    if (file_.integer("split.count", 1, 0, 1 << 16) > 1) {
      unsupported("GGUF files split in parts cannot be read yet", where("split.count"),
                  "Join the parts into one file");
    }
    if (whole("expert_count", 0, 0, 1 << 16) > 0)
      unsupported("Mixtures of experts cannot be used yet", where(key("expert_count")));
  }

  void read_extents() {
    spec_.hidden_size = required("embedding_length", SpecLimits::hidden);
    spec_.intermediate_size = required("feed_forward_length", SpecLimits::intermediate);
    spec_.layers = required("block_count", SpecLimits::layers);
    spec_.context = required("context_length", SpecLimits::context);
    spec_.heads = required("attention.head_count", SpecLimits::heads);
    spec_.kv_heads = whole("attention.head_count_kv", spec_.heads, 1, SpecLimits::heads);
    if (!file_.has(key("attention.key_length")) && spec_.hidden_size % spec_.heads != 0) {
      throw Error(ErrorCode::bad_format, "The hidden size is no multiple of the number of heads",
                  where(key("attention.key_length")));
    }
    spec_.head_dim = whole("attention.key_length", spec_.hidden_size / spec_.heads, 1, SpecLimits::head_dim);
    if (whole("attention.value_length", spec_.head_dim, 1, SpecLimits::head_dim) != spec_.head_dim) {
      unsupported("Keys and values of different lengths cannot be used yet",
                  where(key("attention.value_length")));
    }
    const GgufTensor* embedding = file_.find("token_embd.weight");
    if (!embedding || embedding->shape.size() != 2) {
      throw Error(ErrorCode::bad_format, "The file has no model weights (no token_embd.weight)", file_.path(),
                  "Vocabulary-only files cannot be trained");
    }
    spec_.vocab_size = embedding->shape[0];
    if (whole("vocab_size", spec_.vocab_size, 1, SpecLimits::vocab) != spec_.vocab_size) {
      throw Error(ErrorCode::bad_format, "The embedding has another number of rows",
                  where(key("vocab_size")));
    }
    // The converter writes four times the hidden size for every Phi-2; the matrix knows.
    const GgufTensor* up = file_.find("blk.0.ffn_up.weight");
    if (spec_.family == "phi" && up && up->shape.size() == 2) spec_.intermediate_size = up->shape[0];
  }

  void read_family() {
    const bool phi = spec_.family == "phi", gemma = spec_.family.starts_with("gemma");
    const std::string epsilon =
        key(phi ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon");
    if (!file_.has(epsilon)) throw Error(ErrorCode::bad_format, "The metadata lacks a value", where(epsilon));
    spec_.norm_epsilon = as_written(file_.number(epsilon, 0));
    spec_.sliding_window = whole("attention.sliding_window", 0, 0, SpecLimits::context);
    spec_.tied_head = file_.find("output.weight") == nullptr;
    spec_.qkv_bias = file_.find("blk.0.attn_q.bias") || file_.find("blk.0.attn_qkv.bias");
    spec_.o_bias = file_.find("blk.0.attn_output.bias");
    spec_.mlp_bias = file_.find("blk.0.ffn_up.bias");
    spec_.head_bias = file_.find("output.bias");
    spec_.qk_norm = spec_.family == "qwen3";
    spec_.fused_qkv = spec_.fused_gate_up = spec_.family == "phi3";
    if (phi) {
      spec_.norm = NormKind::layer;
      spec_.block = BlockKind::parallel;
      spec_.mlp = MlpKind::gelu;
    }
    if (!gemma) return;
    spec_.norm = NormKind::rms_one_plus;
    spec_.mlp = MlpKind::gelu_gated;
    spec_.embedding_scale = std::sqrt(static_cast<double>(spec_.hidden_size));
    if (spec_.family == "gemma2") read_gemma2();
  }

  void read_gemma2() {
    spec_.block = BlockKind::sandwich;
    spec_.attention_soft_cap = as_written(file_.number(key("attn_logit_softcapping"), 50));
    spec_.logit_soft_cap = as_written(file_.number(key("final_logit_softcapping"), 30));
    if (!file_.has(key("attention.sliding_window"))) spec_.sliding_window = 4096;
    for (std::int64_t layer = 0; spec_.sliding_window > 0 && layer < spec_.layers; ++layer)
      spec_.full_layers.push_back(layer % 2 == 1);
    // The file does not say query_pre_attn_scalar: it is the head's dimension but in the model of 46 layers
    // (27B).
    constexpr std::int64_t layers_of_27b = 46;
    spec_.query_scalar = spec_.layers == layers_of_27b
                             ? static_cast<double>(spec_.hidden_size) / static_cast<double>(spec_.heads)
                             : static_cast<double>(spec_.head_dim);
  }

  /// A row of numbers for each rotated pair; empty when it is not there.
  std::vector<float> divisors(const char* name) const {
    const GgufTensor* tensor = file_.find(name);
    if (!tensor) return {};
    if (tensor->type != StorageType::f32 || tensor->shape.size() != 1 ||
        tensor->shape[0] > SpecLimits::head_dim) {
      throw Error(ErrorCode::bad_format, "The RoPE divisors have to be one row of F32", where(name));
    }
    std::vector<float> values(static_cast<std::size_t>(tensor->shape[0]));
    const std::span<const std::byte> bytes = file_.bytes(*tensor);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::byte*>(values.data()));
    return values;
  }

  void read_rope() {
    RopeSpec& rope = spec_.rope;
    rope.theta = file_.number(key("rope.freq_base"), 10000.0);
    rope.rotary_dim = whole("rope.dimension_count", spec_.head_dim, 1, SpecLimits::head_dim);
    rope.original_context =
        whole("rope.scaling.original_context_length", spec_.context, 1, SpecLimits::context);
    rope.divisors = divisors("rope_freqs.weight");
    rope.long_factors = divisors("rope_factors_long.weight");
    rope.short_factors = divisors("rope_factors_short.weight");
    const std::string kind = file_.text(key("rope.scaling.type"), "none");
    double factor = file_.number(key("rope.scaling.factor"), 0);
    if (factor == 0) factor = file_.number(key("rope.scale_linear"), 0);
    factor = as_written(factor);
    using Kind = RopeSpec::Kind;
    if (!rope.long_factors.empty() || kind == "longrope") return read_longrope();
    if (kind == "none" && !(factor > 1)) return;  // a factor without a kind is linear, as older files have it
    if (kind != "none" && kind != "linear" && kind != "yarn") {
      unsupported("RoPE scaling of the kind \"" + kind + "\" cannot be used",
                  where(key("rope.scaling.type")));
    }
    rope.kind = kind == "yarn" ? Kind::yarn : Kind::linear;
    rope.factor = factor == 0 ? 1 : factor;
    if (rope.kind != Kind::yarn) return;
    rope.beta_fast = as_written(file_.number(key("rope.scaling.yarn_beta_fast"), 32));
    rope.beta_slow = as_written(file_.number(key("rope.scaling.yarn_beta_slow"), 1));
    rope.attention_factor =
        yarn_attention_factor(rope.factor) * as_written(file_.number(key("rope.scaling.attn_factor"), 1));
  }

  void read_longrope() {
    RopeSpec& rope = spec_.rope;
    rope.kind = RopeSpec::Kind::longrope;
    const double stretch = static_cast<double>(spec_.context) / static_cast<double>(rope.original_context);
    const double given = file_.number(key("rope.scaling.attn_factor"), 0);
    rope.attention_factor =
        given > 0 ? as_written(given) : longrope_attention_factor(stretch, rope.original_context);
  }

  void read_ids() {
    const auto id = [&](const char* name) {
      return static_cast<std::int32_t>(
          file_.integer(std::string("tokenizer.ggml.") + name, -1, 0, 0xffffffff));
    };
    spec_.bos_id = id("bos_token_id");
    spec_.pad_id = id("padding_token_id");
    if (spec_.pad_id >= spec_.vocab_size) spec_.pad_id = -1;
    for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
      const std::int32_t end = id(name);
      const bool known = std::find(spec_.eos_ids.begin(), spec_.eos_ids.end(), end) != spec_.eos_ids.end();
      if (end >= 0 && !known) spec_.eos_ids.push_back(end);
    }
  }

  const GgufFile& file_;
  std::string arch_;
  ModelSpec spec_;
};

}  // namespace

ModelSpec spec_from_gguf(const GgufFile& file) {
  return SpecReader(file).read();
}

}  // namespace lorikeet
