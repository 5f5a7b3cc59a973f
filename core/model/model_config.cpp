// SPDX-License-Identifier: Apache-2.0
#include "core/model/model_config.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/model/spec_limits.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Defaults of a family for fields a config.json leaves out (formats.md §1.4).
struct FamilyDefaults {
  const char* family;
  const char* architecture;
  std::int64_t intermediate_size, kv_heads, context, sliding_window;  ///< kv_heads 0 = as many as heads
};
constexpr FamilyDefaults families[] = {
    {"llama", "LlamaForCausalLM", 11008, 0, 2048, 0},
    {"mistral", "MistralForCausalLM", 14336, 8, 131072, 4096},
};

[[noreturn]] void unsupported(const std::string& what, const std::string& where,
                              const std::string& hint = {}) {
  throw Error(ErrorCode::unsupported, what, where, hint);
}

const FamilyDefaults& family_of(const Json& config, const std::string& name) {
  if (!config.is_object()) throw Error(ErrorCode::bad_format, "The configuration is not a JSON object", name);
  const std::string type = json_string(config, "model_type", "", name);
  if (type.empty()) throw Error(ErrorCode::bad_format, "The configuration does not say its model_type", name);
  for (const FamilyDefaults& family : families) {
    if (type != family.family) continue;
    const auto found = config.find("architectures");
    if (found == config.end() || found->is_null()) return family;
    const bool names_it =
        found->is_array() && std::find(found->begin(), found->end(), family.architecture) != found->end();
    if (!names_it)
      unsupported("The model is not a " + std::string(family.architecture), name + ": architectures");
    return family;
  }
  unsupported("Models of the family \"" + type + "\" cannot be used yet", name + ": model_type",
              "Models of the Llama family can: llama and mistral");
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

double required_number(const Json& object, const char* key, const std::string& name) {
  if (object.find(key) == object.end())
    throw Error(ErrorCode::bad_format, "The RoPE scaling lacks a value", name + ": " + key);
  return json_number(object, key, 0, name);
}

/// RoPE of a config: transformers 5 has all in rope_parameters, 4 has rope_theta beside rope_scaling
/// (formats.md §1.5).
RopeSpec read_rope(const Json& config, std::int64_t head_dim, const std::string& name) {
  const char* key = "rope_parameters";
  auto found = config.find(key);
  if (found == config.end() || found->is_null()) found = config.find(key = "rope_scaling");
  const bool given = found != config.end() && !found->is_null();
  if (given && !found->is_object())
    throw Error(ErrorCode::bad_format, "Expected an object", name + ": " + key);
  const Json values = given ? *found : Json::object();
  const std::string where = name + ": " + key;
  if (values.contains("full_attention") || values.contains("sliding_attention")) {
    unsupported("RoPE by kind of layer cannot be used yet", where);
  }
  RopeSpec rope;
  rope.theta = json_number(values, "rope_theta", json_number(config, "rope_theta", 10000.0, name), where);
  const double part = json_number(values, "partial_rotary_factor",
                                  json_number(config, "partial_rotary_factor", 1.0, name), where);
  if (!(part > 0 && part <= 1))
    throw Error(ErrorCode::bad_format, "The rotary part is not between 0 and 1", where);
  if (part != 1) unsupported("Partly rotated heads cannot be used yet for this family", where);
  rope.rotary_dim = head_dim;
  const std::string kind =
      json_string(values, "rope_type", json_string(values, "type", "default", where), where);
  if (kind == "default") return rope;
  if (kind != "linear" && kind != "llama3") {
    unsupported("RoPE scaling of the kind \"" + kind + "\" cannot be used yet", where,
                "The kinds linear and llama3 can");
  }
  rope.kind = kind == "linear" ? RopeSpec::Kind::linear : RopeSpec::Kind::llama3;
  rope.factor = required_number(values, "factor", where);
  if (rope.kind == RopeSpec::Kind::linear) return rope;
  rope.low_freq_factor = required_number(values, "low_freq_factor", where);
  rope.high_freq_factor = required_number(values, "high_freq_factor", where);
  required_number(values, "original_max_position_embeddings", where);
  rope.original_context =
      json_int(values, "original_max_position_embeddings", 0, 1, SpecLimits::context, where);
  return rope;
}

void refuse_what_is_not_built(const Json& config, const std::string& name) {
  if (const auto found = config.find("quantization_config"); found != config.end() && !found->is_null()) {
    const std::string method =
        found->is_object() ? json_string(*found, "quant_method", "unknown", name) : "unknown";
    unsupported("Checkpoints quantised with " + method + " cannot be used yet",
                name + ": quantization_config",
                "Get the model with 16-bit weights; Lorikeet quantises it while loading");
  }
  const std::string activation = json_string(config, "hidden_act", "silu", name);
  if (activation != "silu" && activation != "swish") {
    unsupported("The activation \"" + activation + "\" cannot be used for this family",
                name + ": hidden_act");
  }
}

}  // namespace

ModelSpec spec_from_config(const Json& config, const std::string& name) {
  const FamilyDefaults& family = family_of(config, name);
  refuse_what_is_not_built(config, name);
  const auto whole = [&](const char* key, std::int64_t fallback, std::int64_t high) {
    return json_int(config, key, fallback, 1, high, name);
  };
  ModelSpec spec;
  spec.family = family.family;
  spec.vocab_size = whole("vocab_size", 32000, SpecLimits::vocab);
  spec.hidden_size = whole("hidden_size", 4096, SpecLimits::hidden);
  spec.intermediate_size = whole("intermediate_size", family.intermediate_size, SpecLimits::intermediate);
  spec.layers = whole("num_hidden_layers", 32, SpecLimits::layers);
  spec.heads = whole("num_attention_heads", 32, SpecLimits::heads);
  spec.kv_heads = nullable_int(config, "num_key_value_heads", family.kv_heads ? family.kv_heads : spec.heads,
                               spec.heads, 1, SpecLimits::heads, name);
  spec.head_dim = json_int(config, "head_dim", 0, 1, SpecLimits::head_dim, name);
  if (spec.head_dim == 0) {
    if (spec.hidden_size % spec.heads != 0) {
      throw Error(ErrorCode::bad_format,
                  "The hidden size is no multiple of the number of heads, and there is no head_dim",
                  name + ": num_attention_heads");
    }
    spec.head_dim = spec.hidden_size / spec.heads;
  }
  spec.context = whole("max_position_embeddings", family.context, SpecLimits::context);
  if (family.sliding_window > 0) {
    spec.sliding_window =
        nullable_int(config, "sliding_window", family.sliding_window, 0, 1, SpecLimits::context, name);
  }
  spec.rms_epsilon = json_number(config, "rms_norm_eps", 1e-6, name);
  spec.tied_head = json_bool(config, "tie_word_embeddings", false, name);
  spec.attention_bias = spec.family == "llama" && json_bool(config, "attention_bias", false, name);
  spec.mlp_bias = spec.family == "llama" && json_bool(config, "mlp_bias", false, name);
  spec.rope = read_rope(config, spec.head_dim, name);
  spec.bos_id =
      static_cast<std::int32_t>(nullable_int(config, "bos_token_id", 1, -1, -1, SpecLimits::vocab, name));
  spec.pad_id =
      static_cast<std::int32_t>(nullable_int(config, "pad_token_id", -1, -1, -1, SpecLimits::vocab, name));
  // Fine-tunes often name a padding token that was never given a row; padding is masked by position, so it is
  // not needed.
  if (spec.pad_id >= spec.vocab_size) spec.pad_id = -1;
  if (config.find("eos_token_id") == config.end()) spec.eos_ids = {2};
  add_end_ids(config, name, spec.eos_ids);
  check_spec(spec, name);
  return spec;
}

void add_generation_end_ids(const Json& generation, const std::string& name, ModelSpec& spec) {
  add_end_ids(generation, name, spec.eos_ids);
  check_spec(spec, name);
}

}  // namespace lorikeet
