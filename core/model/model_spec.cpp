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
  std::int64_t total = linear_parameters() + vocab_size * hidden_size + (2 * layers + 1) * hidden_size;
  if (!tied_head) total += vocab_size * hidden_size;
  if (attention_bias) total += layers * ((heads + 2 * kv_heads) * head_dim + hidden_size);
  if (mlp_bias) total += layers * (2 * intermediate_size + hidden_size);
  return total;
}

std::vector<LinearModule> linear_modules(const ModelSpec& spec) {
  const std::int64_t q = spec.heads * spec.head_dim, kv = spec.kv_heads * spec.head_dim;
  const std::int64_t hidden = spec.hidden_size, wide = spec.intermediate_size;
  return {{"self_attn.q_proj", q, hidden}, {"self_attn.k_proj", kv, hidden}, {"self_attn.v_proj", kv, hidden},
          {"self_attn.o_proj", hidden, q}, {"mlp.gate_proj", wide, hidden},  {"mlp.up_proj", wide, hidden},
          {"mlp.down_proj", hidden, wide}};
}

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
  need(spec.rms_epsilon > 0 && spec.rms_epsilon < 1, "norm epsilon",
       "The norm's epsilon is not between 0 and 1");
  const RopeSpec& rope = spec.rope;
  need(rope.rotary_dim >= 2 && rope.rotary_dim <= spec.head_dim && rope.rotary_dim % 2 == 0,
       "rotary dimensions",
       "The rotary dimensions have to be even and at most " + std::to_string(spec.head_dim));
  need(rope.theta >= 1 && rope.theta <= 1e15, "rope theta", "The RoPE base is not between 1 and 1e15");
  need(rope.factor > 0 && rope.factor <= 1e6, "rope factor", "The RoPE factor is not between 0 and 1e6");
  if (rope.kind == RopeSpec::Kind::llama3) {
    need(rope.low_freq_factor > 0 && rope.high_freq_factor > rope.low_freq_factor &&
             rope.high_freq_factor <= 1e6,
         "rope frequency factors", "The RoPE frequency factors have to be positive and low below high");
    between(rope.original_context, SpecLimits::context, "rope original context");
  }
  need(rope.divisors.empty() || static_cast<std::int64_t>(rope.divisors.size()) == rope.rotary_dim / 2,
       "rope divisors", "There have to be as many RoPE divisors as rotated pairs");
  for (const float divisor : rope.divisors) {
    need(std::isfinite(divisor) && divisor > 0, "rope divisors", "A RoPE divisor is not a positive number");
  }
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
