// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>

#include "core/model/model_config.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

[[noreturn]] void no_configuration(const std::string& what) {
  throw Error(ErrorCode::unsupported, what, "config.json", "Export the adapter by itself instead");
}

/// The divisor llama3 scaling gives a pair of this wavelength (formats.md §1.5, §7.3).
double llama3_divisor(const RopeSpec& rope, double wavelength) {
  const auto original = static_cast<double>(rope.original_context);
  if (wavelength < original / rope.high_freq_factor) return 1;
  if (wavelength > original / rope.low_freq_factor) return rope.factor;
  const double smooth =
      (original / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return 1 / ((1 - smooth) / rope.factor + smooth);
}

/// GGUF keeps llama3 scaling only as its result, one divisor per pair. With the low factor at 1 (the rule
/// does not change when all three of its numbers are scaled) the share of the unscaled frequency is a
/// straight line in 1/wavelength between the two bands; its slope and offset give the numbers back.
class Llama3Fit {
 public:
  explicit Llama3Fit(const RopeSpec& rope) : divisors_(rope.divisors) {
    for (std::size_t i = 0; i < divisors_.size(); ++i) {
      const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(rope.rotary_dim);
      wavelengths_.push_back(2 * std::numbers::pi * std::pow(rope.theta, exponent));
    }
    fit_ = rope;
    fit_.kind = RopeSpec::Kind::llama3;
    fit_.divisors.clear();
    fit_.factor = static_cast<double>(*std::max_element(divisors_.begin(), divisors_.end()));
    fit_.low_freq_factor = 1;
  }

  std::optional<RopeSpec> find() {
    if (const auto line = between_the_bands()) {
      const double high = 1 - 1 / line->offset;
      if (fits(high, -line->slope / line->offset)) return fit_;
    }
    for (const double original : {8192.0, 4096.0, 2048.0, 16384.0, 32768.0}) {
      if (fits(4, original)) return fit_;
    }
    return std::nullopt;
  }

 private:
  struct Line {
    double slope = 0, offset = 0;
  };

  std::optional<Line> between_the_bands() const {
    std::vector<std::pair<double, double>> points;
    for (std::size_t i = 0; i < divisors_.size(); ++i) {
      const double divisor = static_cast<double>(divisors_[i]);
      if (divisor < 1.0001 || divisor > 0.9999 * fit_.factor) continue;
      points.emplace_back(1 / wavelengths_[i], (1 / divisor - 1 / fit_.factor) / (1 - 1 / fit_.factor));
    }
    if (points.size() < 2) return std::nullopt;
    const auto [x0, y0] = points.front();
    const auto [x1, y1] = points.back();
    const double slope = (y1 - y0) / (x1 - x0);
    const Line line{slope, y0 - slope * x0};
    if (!(line.slope > 0 && line.offset < 0)) return std::nullopt;
    return line;
  }

  /// Whether the rule with these numbers (rounded as people choose them) gives every divisor.
  bool fits(double high, double original) {
    fit_.high_freq_factor = std::round(high * 1000) / 1000;
    fit_.original_context = std::llround(original);
    if (!(fit_.high_freq_factor > 1) || fit_.original_context < 1) return false;
    for (std::size_t i = 0; i < divisors_.size(); ++i) {
      const double given = static_cast<double>(divisors_[i]);
      if (std::abs(llama3_divisor(fit_, wavelengths_[i]) - given) > 1e-4 * given) return false;
    }
    return true;
  }

  const std::vector<float>& divisors_;
  std::vector<double> wavelengths_;
  RopeSpec fit_;
};

Json rope_scaling(const RopeSpec& rope) {
  using Kind = RopeSpec::Kind;
  switch (rope.kind) {
    case Kind::plain:
      return nullptr;
    case Kind::linear:
      return {{"rope_type", "linear"}, {"type", "linear"}, {"factor", rope.factor}};
    case Kind::dynamic:
      return {{"rope_type", "dynamic"}, {"type", "dynamic"}, {"factor", rope.factor}};
    case Kind::yarn:
      return {{"rope_type", "yarn"},
              {"type", "yarn"},
              {"factor", rope.factor},
              {"original_max_position_embeddings", rope.original_context},
              {"attention_factor", rope.attention_factor},
              {"beta_fast", rope.beta_fast},
              {"beta_slow", rope.beta_slow},
              {"truncate", rope.truncate}};
    case Kind::longrope:
      return {{"rope_type", "longrope"},
              {"type", "longrope"},
              {"short_factor", rope.short_factors},
              {"long_factor", rope.long_factors},
              {"attention_factor", rope.attention_factor},
              {"original_max_position_embeddings", rope.original_context}};
    case Kind::llama3:
      break;
  }
  return {{"rope_type", "llama3"},
          {"factor", rope.factor},
          {"low_freq_factor", rope.low_freq_factor},
          {"high_freq_factor", rope.high_freq_factor},
          {"original_max_position_embeddings", rope.original_context}};
}

/// Fields that not every family has.
void add_family_fields(Json& config, const ModelSpec& spec) {
  const std::string& family = spec.family;
  const bool gemma = family == "gemma" || family == "gemma2";
  config["hidden_act"] = family == "phi" ? "gelu_new" : gemma ? "gelu_pytorch_tanh" : "silu";
  if (gemma) config["hidden_activation"] = "gelu_pytorch_tanh";
  config[family == "phi" ? "layer_norm_eps" : "rms_norm_eps"] = spec.norm_epsilon;
  if (family == "llama") {
    config["mlp_bias"] = spec.mlp_bias;
    config["pretraining_tp"] = 1;
  }
  if (family == "llama" || family == "qwen3" || gemma) config["attention_bias"] = spec.qkv_bias;
  if (family == "qwen2" || family == "qwen3") config["use_sliding_window"] = false;
  if (family == "phi") config["qk_layernorm"] = false;
  if (family == "phi" || family == "phi3")
    config["partial_rotary_factor"] =
        static_cast<double>(spec.rope.rotary_dim) / static_cast<double>(spec.head_dim);
  if (family == "phi3") config["original_max_position_embeddings"] = spec.rope.original_context;
  if (family == "phi3" || family == "mistral")
    config["sliding_window"] = spec.sliding_window > 0 ? Json(spec.sliding_window) : Json(nullptr);
  if (family != "gemma2") return;
  config["sliding_window"] = spec.sliding_window > 0 ? Json(spec.sliding_window) : Json(nullptr);
  config["query_pre_attn_scalar"] = spec.query_scalar;
  config["attn_logit_softcapping"] = spec.attention_soft_cap;
  config["final_logit_softcapping"] = spec.logit_soft_cap;
}

/// Stretches positions by a factor, in the fields the file uses.
void stretch_rope(Json& config, const ModelSpec& spec, double factor) {
  if (spec.rope.kind != RopeSpec::Kind::plain && spec.rope.kind != RopeSpec::Kind::linear)
    no_configuration("Linear RoPE on top of another scaling cannot be written");
  RopeSpec rope = spec.rope;
  rope.kind = RopeSpec::Kind::linear;
  rope.factor = spec.rope.factor * factor;
  if (const auto found = config.find("rope_parameters"); found != config.end() && found->is_object()) {
    (*found)["rope_type"] = "linear";
    (*found)["factor"] = rope.factor;
  } else {
    config["rope_scaling"] = rope_scaling(rope);
  }
  config["max_position_embeddings"] = std::llround(static_cast<double>(spec.context) * factor);
}

}  // namespace

Json config_from_spec(const ModelSpec& spec, const std::string& dtype) {
  RopeSpec rope = spec.rope;
  if (!rope.divisors.empty()) {
    if (rope.kind != RopeSpec::Kind::plain)
      no_configuration("RoPE divisors together with a factor cannot be written");
    const std::optional<RopeSpec> fit = Llama3Fit(rope).find();
    if (!fit)
      no_configuration("The RoPE divisors of this GGUF file follow no rule that a configuration can name");
    rope = *fit;
  }
  const auto id_or_null = [](std::int32_t id) { return id < 0 ? Json(nullptr) : Json(id); };
  Json config;
  config["architectures"] = {architecture_of(spec.family)};
  config["attention_dropout"] = 0.0;
  config["bos_token_id"] = id_or_null(spec.bos_id);
  config["eos_token_id"] = spec.eos_ids.empty()       ? Json(nullptr)
                           : spec.eos_ids.size() == 1 ? Json(spec.eos_ids[0])
                                                      : Json(spec.eos_ids);
  config["head_dim"] = spec.head_dim;
  config["hidden_size"] = spec.hidden_size;
  config["initializer_range"] = 0.02;
  config["intermediate_size"] = spec.intermediate_size;
  config["max_position_embeddings"] = spec.context;
  config["model_type"] = spec.family;
  config["num_attention_heads"] = spec.heads;
  config["num_hidden_layers"] = spec.layers;
  config["num_key_value_heads"] = spec.kv_heads;
  config["pad_token_id"] = id_or_null(spec.pad_id);
  config["rope_scaling"] = rope_scaling(rope);
  config["rope_theta"] = spec.rope.theta;
  config["tie_word_embeddings"] = spec.tied_head;
  config["torch_dtype"] = dtype;
  config["use_cache"] = true;
  config["vocab_size"] = spec.vocab_size;
  add_family_fields(config, spec);
  return config;
}

Json config_for_export(Json config, const ModelSpec& spec, const std::string& dtype,
                       double rope_linear_factor) {
  config[config.contains("dtype") ? "dtype" : "torch_dtype"] = dtype;
  if (config.contains("dtype")) config.erase("torch_dtype");
  config.erase("quantization_config");
  config.erase("_name_or_path");  // where somebody kept the base
  if (spec.head_dim * spec.heads != spec.hidden_size) config["head_dim"] = spec.head_dim;
  if (rope_linear_factor != 1) stretch_rope(config, spec, rope_linear_factor);
  return config;
}

}  // namespace lorikeet
