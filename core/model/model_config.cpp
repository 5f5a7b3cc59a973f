// SPDX-License-Identifier: Apache-2.0
#include "core/model/model_config.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <initializer_list>
#include <nlohmann/json.hpp>

#include "core/model/rope.h"
#include "core/model/spec_limits.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// A family: the architecture its configuration names, and defaults for fields a config.json leaves out
/// (formats.md §1.4). 0 = follows from other fields.
struct Family {
  const char* name;
  const char* architecture;
  std::int64_t vocab_size, hidden_size, intermediate_size, layers, heads, kv_heads, head_dim, context;
  std::int64_t bos_id, eos_id, pad_id;
};
constexpr Family families[] = {
    {"llama", "LlamaForCausalLM", 32000, 4096, 11008, 32, 32, 0, 0, 2048, 1, 2, -1},
    {"mistral", "MistralForCausalLM", 32000, 4096, 14336, 32, 32, 8, 0, 131072, 1, 2, -1},
    {"qwen2", "Qwen2ForCausalLM", 151936, 4096, 22016, 32, 32, 32, 0, 32768, -1, -1, -1},
    {"qwen3", "Qwen3ForCausalLM", 151936, 4096, 22016, 32, 32, 32, 128, 32768, -1, -1, -1},
    {"phi", "PhiForCausalLM", 51200, 2048, 8192, 24, 32, 0, 0, 2048, 1, 2, -1},
    {"phi3", "Phi3ForCausalLM", 32064, 3072, 8192, 32, 32, 0, 0, 4096, 1, 32000, 32000},
    {"gemma", "GemmaForCausalLM", 256000, 3072, 24576, 28, 16, 16, 256, 8192, 2, 1, 0},
    {"gemma2", "Gemma2ForCausalLM", 256000, 2304, 9216, 26, 8, 4, 256, 8192, 2, 1, 0},
};

[[noreturn]] void unsupported(const std::string& what, const std::string& where,
                              const std::string& hint = {}) {
  throw Error(ErrorCode::unsupported, what, where, hint);
}

const Family& family_of(const Json& config, const std::string& name) {
  if (!config.is_object()) throw Error(ErrorCode::bad_format, "The configuration is not a JSON object", name);
  const std::string type = json_string(config, "model_type", "", name);
  if (type.empty()) throw Error(ErrorCode::bad_format, "The configuration does not say its model_type", name);
  for (const Family& family : families) {
    if (type != family.name) continue;
    const auto found = config.find("architectures");
    if (found == config.end() || found->is_null()) return family;
    const bool names_it =
        found->is_array() && std::find(found->begin(), found->end(), family.architecture) != found->end();
    if (!names_it)
      unsupported("The model is not a " + std::string(family.architecture), name + ": architectures");
    return family;
  }
  unsupported("Models of the family \"" + type + "\" cannot be used yet", name + ": model_type",
              "These can: llama, mistral, qwen2, qwen3, phi, phi3, gemma and gemma2");
}

/// A field that may be absent (the default), null (none) or a number.
std::int64_t nullable_int(const Json& config, const char* key, std::int64_t absent, std::int64_t null,
                          std::int64_t low, std::int64_t high, const std::string& name) {
  const auto found = config.find(key);
  if (found == config.end()) return absent;
  return json_int(config, key, null, low, high, name);
}

void add_end_ids(const Json& config, const std::string& name, std::vector<std::int32_t>& ids) {
  const auto found = config.find("eos_token_id");
  if (found == config.end() || found->is_null()) return;
  const Json list = found->is_array() ? *found : Json::array({*found});
  for (const Json& id : list) {
    Json one;
    one["eos_token_id"] = id;
    const auto value =
        static_cast<std::int32_t>(json_int(one, "eos_token_id", -1, -1, SpecLimits::vocab, name));
    if (value >= 0 && std::find(ids.begin(), ids.end(), value) == ids.end()) ids.push_back(value);
  }
}

void refuse_what_is_not_built(const Json& config, const std::string& name) {
  if (const auto found = config.find("quantization_config"); found != config.end() && !found->is_null()) {
    const std::string method =
        found->is_object() ? json_string(*found, "quant_method", "unknown", name) : "unknown";
    unsupported("Checkpoints quantised with " + method + " cannot be used yet",
                name + ": quantization_config",
                "Get the model with 16-bit weights; Lorikeet quantises it while loading");
  }
}

/// Whether the activation a config names is one of these; "" = the family's.
void need_activation(const Json& config, const char* key, std::initializer_list<const char*> allowed,
                     const std::string& name) {
  const std::string activation = json_string(config, key, "", name);
  if (activation.empty()) return;
  if (std::none_of(allowed.begin(), allowed.end(), [&](const char* one) { return activation == one; })) {
    unsupported("The activation \"" + activation + "\" cannot be used for this family", name + ": " + key);
  }
}

/// What a flag of a config has to be, since nothing else is built.
void need_flag(const Json& config, const char* key, bool wanted, const std::string& name) {
  if (json_bool(config, key, wanted, name) != wanted)
    unsupported(std::string("Models with ") + key + (wanted ? " off" : "") + " cannot be used yet",
                name + ": " + key);
}

/// layer_types where it is given, else every layer slides but those that `is_full` names.
void read_layer_types(const Json& config, ModelSpec& spec, const std::function<bool(std::int64_t)>& is_full,
                      const std::string& name) {
  if (spec.sliding_window == 0) return;
  const auto found = config.find("layer_types");
  const bool given = found != config.end() && !found->is_null();
  if (given && (!found->is_array() || static_cast<std::int64_t>(found->size()) != spec.layers))
    throw Error(ErrorCode::bad_format, "There have to be as many layer types as layers",
                name + ": layer_types");
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    if (!given) {
      spec.full_layers.push_back(is_full(layer));
      continue;
    }
    const Json& type = (*found)[static_cast<std::size_t>(layer)];
    if (type != "full_attention" && type != "sliding_attention")
      unsupported("A kind of layer cannot be used: " + dump_json(type), name + ": layer_types");
    spec.full_layers.push_back(type == "full_attention");
  }
}

void read_qwen(const Json& config, ModelSpec& spec, const std::string& name) {
  need_activation(config, "hidden_act", {"silu", "swish"}, name);
  spec.qk_norm = spec.family == "qwen3";
  const bool bias = json_bool(config, "attention_bias", false, name);
  spec.qkv_bias = spec.family == "qwen2" || bias;
  spec.o_bias = spec.family == "qwen3" && bias;
  if (!json_bool(config, "use_sliding_window", false, name)) return;
  spec.sliding_window = nullable_int(config, "sliding_window", 4096, 0, 1, SpecLimits::context, name);
  const std::int64_t first = json_int(config, "max_window_layers", 28, 0, SpecLimits::layers, name);
  read_layer_types(
      config, spec, [&](std::int64_t layer) { return layer < first; }, name);
}

void read_phi(const Json& config, ModelSpec& spec, const std::string& name) {
  need_activation(config, "hidden_act", {"gelu_new", "gelu_pytorch_tanh"}, name);
  need_flag(config, "qk_layernorm", false, name);
  spec.norm = NormKind::layer;
  spec.block = BlockKind::parallel;
  spec.mlp = MlpKind::gelu;
  spec.qkv_bias = spec.o_bias = spec.mlp_bias = spec.head_bias = true;
}

void read_gemma(const Json& config, ModelSpec& spec, const std::string& name) {
  // Older files say "gelu" and mean its tanh form.
  need_activation(config, "hidden_activation", {"gelu_pytorch_tanh", "gelu_new", "gelu"}, name);
  need_activation(config, "hidden_act", {"gelu_pytorch_tanh", "gelu_new", "gelu"}, name);
  spec.norm = NormKind::rms_one_plus;
  spec.mlp = MlpKind::gelu_gated;
  spec.embedding_scale = std::sqrt(static_cast<double>(spec.hidden_size));
  spec.qkv_bias = spec.o_bias = json_bool(config, "attention_bias", false, name);
  if (spec.family != "gemma2") return;
  spec.block = BlockKind::sandwich;
  spec.query_scalar = json_number(config, "query_pre_attn_scalar", 256, name);
  const auto cap = [&](const char* key, double fallback) {
    const auto found = config.find(key);
    return found != config.end() && found->is_null() ? 0.0 : json_number(config, key, fallback, name);
  };
  spec.attention_soft_cap = cap("attn_logit_softcapping", 50);
  spec.logit_soft_cap = cap("final_logit_softcapping", 30);
  spec.sliding_window = nullable_int(config, "sliding_window", 4096, 0, 1, SpecLimits::context, name);
  read_layer_types(
      config, spec, [](std::int64_t layer) { return layer % 2 == 1; }, name);
}

/// What sets a family apart, once its extents are read.
void read_family(const Json& config, ModelSpec& spec, const std::string& name) {
  if (spec.family == "qwen2" || spec.family == "qwen3") return read_qwen(config, spec, name);
  if (spec.family == "phi") return read_phi(config, spec, name);
  if (spec.family == "gemma" || spec.family == "gemma2") return read_gemma(config, spec, name);
  need_activation(config, "hidden_act", {"silu", "swish"}, name);
  if (spec.family == "llama") {
    spec.qkv_bias = spec.o_bias = json_bool(config, "attention_bias", false, name);
    spec.mlp_bias = json_bool(config, "mlp_bias", false, name);
    return;
  }
  spec.fused_qkv = spec.fused_gate_up = spec.family == "phi3";
  spec.sliding_window = nullable_int(config, "sliding_window", spec.family == "mistral" ? 4096 : 0, 0, 1,
                                     SpecLimits::context, name);
}

}  // namespace

ModelSpec spec_from_config(const Json& config, const std::string& name) {
  const Family& family = family_of(config, name);
  refuse_what_is_not_built(config, name);
  const auto whole = [&](const char* key, std::int64_t fallback, std::int64_t high) {
    return json_int(config, key, fallback, 1, high, name);
  };
  ModelSpec spec;
  spec.family = family.name;
  spec.vocab_size = whole("vocab_size", family.vocab_size, SpecLimits::vocab);
  spec.hidden_size = whole("hidden_size", family.hidden_size, SpecLimits::hidden);
  spec.intermediate_size = whole("intermediate_size", family.intermediate_size, SpecLimits::intermediate);
  spec.layers = whole("num_hidden_layers", family.layers, SpecLimits::layers);
  spec.heads = whole("num_attention_heads", family.heads, SpecLimits::heads);
  spec.kv_heads = nullable_int(config, "num_key_value_heads", family.kv_heads ? family.kv_heads : spec.heads,
                               spec.heads, 1, SpecLimits::heads, name);
  spec.head_dim = json_int(config, "head_dim", family.head_dim, 1, SpecLimits::head_dim, name);
  if (spec.head_dim == 0) {
    if (spec.hidden_size % spec.heads != 0) {
      throw Error(ErrorCode::bad_format,
                  "The hidden size is no multiple of the number of heads, and there is no head_dim",
                  name + ": num_attention_heads");
    }
    spec.head_dim = spec.hidden_size / spec.heads;
  }
  spec.context = whole("max_position_embeddings", family.context, SpecLimits::context);
  const bool phi = spec.family == "phi", gemma = spec.family == "gemma" || spec.family == "gemma2";
  spec.norm_epsilon = phi ? json_number(config, "layer_norm_eps", 1e-5, name)
                          : json_number(config, "rms_norm_eps", spec.family == "phi3" ? 1e-5 : 1e-6, name);
  spec.tied_head = json_bool(config, "tie_word_embeddings", gemma, name);
  read_family(config, spec, name);
  spec.rope = rope_from_config(config, spec.family, spec.head_dim, spec.context, phi ? 0.5 : 1.0, name);
  const auto id = [&](const char* key, std::int64_t fallback) {
    return static_cast<std::int32_t>(nullable_int(config, key, fallback, -1, -1, SpecLimits::vocab, name));
  };
  spec.bos_id = id("bos_token_id", family.bos_id);
  spec.pad_id = id("pad_token_id", family.pad_id);
  // Fine-tunes often name a padding token that was never given a row; padding is masked by position, so it is
  // not needed.
  if (spec.pad_id >= spec.vocab_size) spec.pad_id = -1;
  if (config.find("eos_token_id") == config.end() && family.eos_id >= 0)
    spec.eos_ids = {static_cast<std::int32_t>(family.eos_id)};
  add_end_ids(config, name, spec.eos_ids);
  check_spec(spec, name);
  return spec;
}

std::string architecture_of(const std::string& family) {
  for (const Family& known : families) {
    if (family == known.name) return known.architecture;
  }
  throw Error(ErrorCode::invalid_argument, "There is no such family of models", family);
}

void add_generation_end_ids(const Json& generation, const std::string& name, ModelSpec& spec) {
  add_end_ids(generation, name, spec.eos_ids);
  check_spec(spec, name);
}

}  // namespace lorikeet
