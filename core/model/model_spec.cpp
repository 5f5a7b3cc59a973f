// SPDX-License-Identifier: Apache-2.0
#include "core/model/model_spec.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/model/gguf.h"
#include "core/model/model_config.h"
#include "core/model/model_files.h"
#include "core/model/spec_limits.h"
#include "kernels/base/error.h"

namespace lorikeet {

std::int64_t ModelSpec::linear_parameters() const {
  std::int64_t layer = 0;
  for (const LinearModule& module : linear_modules(*this)) layer += module.out * module.in;
  return layers * layer;
}

std::int64_t ModelSpec::parameters() const {
  const std::int64_t table = vocab_size * hidden_size;
  const std::int64_t norm_width_factor = norm == NormKind::layer ? 2 : 1;
  std::int64_t layer = 0;
  for (const LinearModule& module : linear_modules(*this)) layer += module.bias ? module.out : 0;
  for (const NormModule& module : norm_modules(*this)) layer += norm_width_factor * module.width;
  return linear_parameters() + layers * layer + norm_width_factor * hidden_size +
         table * (tied_head ? 1 : 2) + (head_bias ? vocab_size : 0);
}

float ModelSpec::attention_scale() const {
  return static_cast<float>(1.0 / std::sqrt(query_scalar > 0 ? query_scalar : static_cast<double>(head_dim)));
}

std::int64_t ModelSpec::window_of(std::int64_t layer) const {
  const bool is_full = !full_layers.empty() && full_layers[static_cast<std::size_t>(layer)];
  return is_full ? 0 : sliding_window;
}

std::vector<LinearModule> linear_modules(const ModelSpec& spec) {
  const std::int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  const std::int64_t hidden = spec.hidden_size, wide = spec.intermediate_size;
  const bool phi = spec.block == BlockKind::parallel;
  std::vector<LinearModule> modules;
  const auto add = [&](const char* name, Linear role, std::int64_t out, std::int64_t in, bool bias) {
    modules.push_back({name, out, in, bias, {{role, 0, out}}});
  };
  if (spec.fused_qkv) {
    modules.push_back({"self_attn.qkv_proj",
                       q + 2 * kv,
                       hidden,
                       spec.qkv_bias,
                       {{q_proj, 0, q}, {k_proj, q, kv}, {v_proj, q + kv, kv}}});
  } else {
    add("self_attn.q_proj", q_proj, q, hidden, spec.qkv_bias);
    add("self_attn.k_proj", k_proj, kv, hidden, spec.qkv_bias);
    add("self_attn.v_proj", v_proj, kv, hidden, spec.qkv_bias);
  }
  add(phi ? "self_attn.dense" : "self_attn.o_proj", o_proj, hidden, q, spec.o_bias);
  if (spec.fused_gate_up) {
    modules.push_back(
        {"mlp.gate_up_proj", 2 * wide, hidden, spec.mlp_bias, {{gate_proj, 0, wide}, {up_proj, wide, wide}}});
  } else {
    if (spec.has_gate()) add("mlp.gate_proj", gate_proj, wide, hidden, spec.mlp_bias);
    add(phi ? "mlp.fc1" : "mlp.up_proj", up_proj, wide, hidden, spec.mlp_bias);
  }
  add(phi ? "mlp.fc2" : "mlp.down_proj", down_proj, hidden, wide, spec.mlp_bias);
  return modules;
}

std::vector<NormModule> norm_modules(const ModelSpec& spec) {
  const std::int64_t hidden = spec.hidden_size;
  std::vector<NormModule> norms = {{attention_norm, "input_layernorm", hidden}};
  if (spec.qk_norm) {
    norms.push_back({q_norm, "self_attn.q_norm", spec.head_dim});
    norms.push_back({k_norm, "self_attn.k_norm", spec.head_dim});
  }
  if (spec.block == BlockKind::sequential) norms.push_back({mlp_norm, "post_attention_layernorm", hidden});
  if (spec.block == BlockKind::sandwich) {
    norms.push_back({attention_output_norm, "post_attention_layernorm", hidden});
    norms.push_back({mlp_norm, "pre_feedforward_layernorm", hidden});
    norms.push_back({mlp_output_norm, "post_feedforward_layernorm", hidden});
  }
  return norms;
}

std::string final_norm_name(const ModelSpec& spec) {
  return spec.block == BlockKind::parallel ? "model.final_layernorm" : "model.norm";
}

namespace {

void check_rope(const ModelSpec& spec, const std::string& name) {
  const auto need = [&](bool holds, const char* field, const std::string& what) {
    if (!holds) throw Error(ErrorCode::bad_format, what, name + ": " + field);
  };
  const RopeSpec& rope = spec.rope;
  using Kind = RopeSpec::Kind;
  need(rope.rotary_dim >= 2 && rope.rotary_dim <= spec.head_dim && rope.rotary_dim % 2 == 0,
       "rotary dimensions",
       "The rotary dimensions have to be even and at most " + std::to_string(spec.head_dim));
  need(rope.theta >= 1 && rope.theta <= 1e15, "rope theta", "The RoPE base is not between 1 and 1e15");
  need(rope.factor > 0 && rope.factor <= 1e6, "rope factor", "The RoPE factor is not between 0 and 1e6");
  need(rope.attention_factor > 0 && rope.attention_factor <= 1e3, "rope attention factor",
       "The RoPE attention factor is not between 0 and 1000");
  if (rope.kind == Kind::llama3) {
    need(rope.low_freq_factor > 0 && rope.high_freq_factor > rope.low_freq_factor &&
             rope.high_freq_factor <= 1e6,
         "rope frequency factors", "The RoPE frequency factors have to be positive and low below high");
  }
  if (rope.kind != Kind::plain && rope.kind != Kind::linear) {
    need(rope.original_context >= 1 && rope.original_context <= SpecLimits::context, "rope original context",
         "The number is outside 1 to " + std::to_string(SpecLimits::context));
  }
  if (rope.kind == Kind::dynamic)
    need(rope.rotary_dim > 2 && rope.factor >= 1, "rope factor", "Dynamic RoPE needs a factor of at least 1");
  if (rope.kind == Kind::yarn) {
    need(rope.beta_slow > 0 && rope.beta_fast >= rope.beta_slow && rope.beta_fast <= 1e6, "rope betas",
         "The RoPE betas have to be positive and slow at most fast");
    need(rope.theta > 1, "rope theta", "Yarn needs a RoPE base above 1");
  }
  const auto check_list = [&](const std::vector<float>& list, const char* field) {
    need(static_cast<std::int64_t>(list.size()) == rope.rotary_dim / 2, field,
         "There have to be as many RoPE divisors as rotated pairs");
    for (const float divisor : list)
      need(std::isfinite(divisor) && divisor > 0, field, "A RoPE divisor is not a positive number");
  };
  if (!rope.divisors.empty()) check_list(rope.divisors, "rope divisors");
  if (rope.kind == Kind::longrope) {
    check_list(rope.short_factors, "rope short factors");
    check_list(rope.long_factors, "rope long factors");
  }
}

}  // namespace

void check_spec(const ModelSpec& spec, const std::string& name) {
  const auto need = [&](bool holds, const char* field, const std::string& what) {
    if (!holds) throw Error(ErrorCode::bad_format, what, name + ": " + field);
  };
  const auto between = [&](std::int64_t value, std::int64_t high, const char* field) {
    need(value >= 1 && value <= high, field, "The number is outside 1 to " + std::to_string(high));
  };
  between(spec.vocab_size, SpecLimits::vocab, "vocabulary size");
  between(spec.hidden_size, SpecLimits::hidden, "hidden size");
  between(spec.intermediate_size, SpecLimits::intermediate, "intermediate size");
  between(spec.layers, SpecLimits::layers, "layers");
  between(spec.heads, SpecLimits::heads, "attention heads");
  between(spec.kv_heads, spec.heads, "key-value heads");
  between(spec.head_dim, SpecLimits::head_dim, "head dimension");
  between(spec.context, SpecLimits::context, "context length");
  need(spec.heads % spec.kv_heads == 0, "key-value heads",
       std::to_string(spec.kv_heads) + " key-value heads do not divide " + std::to_string(spec.heads) +
           " heads");
  need(spec.sliding_window >= 0, "sliding window", "The sliding window is negative");
  need(spec.full_layers.empty() || static_cast<std::int64_t>(spec.full_layers.size()) == spec.layers,
       "layer types", "There have to be as many layer types as layers");
  const auto within = [&](double value, double high, const char* field) {
    need(value >= 0 && value <= high, field, "The number is outside 0 to " + std::to_string(high));
  };
  within(spec.embedding_scale, 1e6, "embedding scale");
  within(spec.query_scalar, 1e6, "query scalar");
  within(spec.attention_soft_cap, 1e6, "attention soft cap");
  within(spec.logit_soft_cap, 1e6, "logit soft cap");
  need(spec.norm_epsilon > 0 && spec.norm_epsilon < 1, "norm epsilon",
       "The norm's epsilon is not between 0 and 1");
  check_rope(spec, name);
  const auto id_ok = [&](std::int32_t id) { return id >= -1 && id < spec.vocab_size; };
  need(id_ok(spec.bos_id), "begin token", "The begin token's id is outside the vocabulary");
  need(id_ok(spec.pad_id), "padding token", "The padding token's id is outside the vocabulary");
  for (const std::int32_t id : spec.eos_ids) {
    need(id >= 0 && id_ok(id), "end token", "An end token's id is outside the vocabulary");
  }
}

ModelSpec read_model_spec(const std::string& path) {
  const ModelFiles files = locate_model(path);
  if (files.kind == ModelFiles::Kind::gguf) {
    ModelSpec spec = spec_from_gguf(GgufFile(files.path));
    spec.name = model_name(files.path);  // general.name often is a folder of whoever trained the model
    return spec;
  }
  const std::string config = files.path + "/config.json";
  ModelSpec spec = spec_from_config(read_json_file(config, 16u << 20), config);
  const std::string generation = files.path + "/generation_config.json";
  if (std::filesystem::exists(generation)) {
    add_generation_end_ids(read_json_file(generation, 16u << 20), generation, spec);
  }
  spec.name = model_name(files.path);
  return spec;
}

}  // namespace lorikeet
