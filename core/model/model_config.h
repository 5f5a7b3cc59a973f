// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/json.h"
#include "core/model/model_spec.h"

namespace lorikeet {

class GgufFile;

/// The spec of a config.json already parsed; `name` is used in errors. Values absent take the family's
/// defaults (formats.md §1.4). Throws Error(bad_format | unsupported).
ModelSpec spec_from_config(const Json& config, const std::string& name);

/// The class of transformers that a family's configurations name, for example "LlamaForCausalLM".
std::string architecture_of(const std::string& family);

/// Adds the end ids of a generation_config.json already parsed.
void add_generation_end_ids(const Json& generation, const std::string& name, ModelSpec& spec);

/// The spec of a GGUF file's metadata and tensor names (formats.md §7.3).
ModelSpec spec_from_gguf(const GgufFile& file);

/// The config.json that transformers would need for a spec read from a GGUF file; `dtype` such as "bfloat16".
/// Throws Error(unsupported) when the spec's RoPE divisors are not those of the llama3 rule.
Json config_from_spec(const ModelSpec& spec, const std::string& dtype);

/// A config.json changed for weights written anew: the dtype in the field the file uses, no
/// quantization_config, head_dim where it does not follow, and RoPE stretched by `rope_linear_factor` (1 = as
/// it is). Every other field is kept. Throws Error(unsupported) for a factor on top of llama3 scaling, which
/// no configuration can say.
Json config_for_export(Json config, const ModelSpec& spec, const std::string& dtype,
                       double rope_linear_factor);

}  // namespace lorikeet
