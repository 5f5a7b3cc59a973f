// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/model/model_spec.h"

namespace lorikeet {

/// Which modules a PEFT setting names: a list of names (equal, or the end of the path after a dot), or one
/// regular expression over the whole path, or every linear layer (formats.md §3.5).
struct ModuleChoice {
  std::vector<std::string> names;
  std::string pattern;
  bool all_linear = false;

  bool empty() const { return names.empty() && pattern.empty() && !all_linear; }
};

/// adapter_config.json as far as this engine uses it (formats.md §3.2); all else is kept in `text` for
/// writing back.
struct AdapterConfig {
  std::int64_t rank = 8;
  double alpha = 8;
  double dropout = 0;  ///< of training only
  bool rslora = false;
  bool dora = false;
  ModuleChoice targets;  ///< empty = the family's default, q_proj and v_proj
  ModuleChoice excluded;
  std::optional<std::vector<std::int64_t>> layers;  ///< layers_to_transform
  std::vector<std::string> layer_patterns;          ///< layers_pattern
  /// In the order of the file: the first pattern that matches counts.
  std::vector<std::pair<std::string, std::int64_t>> rank_pattern;
  std::vector<std::pair<std::string, double>> alpha_pattern;
  std::string base_name;  ///< base_model_name_or_path
  std::string text;       ///< the file as read, "" for an adapter made here
};

/// One linear layer an adapter changes.
struct AdapterModule {
  std::int64_t layer = 0;
  std::string name;  ///< "self_attn.q_proj"
  std::int64_t out = 0, in = 0, rank = 0;
  double scale = 1;  ///< alpha/r, or alpha/sqrt(r) with rslora, after patterns
  std::vector<LinearRows> rows;

  std::string path() const { return "model.layers." + std::to_string(layer) + "." + name; }
  /// Name of its tensor in adapter_model.safetensors; `part` is 'A' (r,in), 'B' (out,r) or 'M' [out], DoRA's
  /// magnitude.
  std::string tensor_name(char part) const {
    const std::string stem = "base_model.model." + path() + ".lora_";
    return part == 'M' ? stem + "magnitude_vector" : stem + part + ".weight";
  }
};

/// An adapter that another one goes on from.
struct AdapterParent {
  std::string name;    ///< of its folder or run, for people
  std::string run_id;  ///< "" when it was made elsewhere
  std::string sha256;  ///< of its adapter_model.safetensors
};

/// lorikeet.json beside it (design.md §10); empty fields for adapters made elsewhere.
struct AdapterNotes {
  std::string format;  ///< "alpaca", "chat", "none", "" = unknown
  std::string template_text, template_hash, system;
  std::vector<std::int32_t> stop_ids;
  std::string base_id, base_name, run_id, quantization;
  std::string init;  ///< "loftq" fits the base in `quantization` only; "" = PEFT's default
  double rope_linear_factor = 1;
  std::vector<AdapterParent> lineage;  ///< the one it goes on from, then that one's, ...; empty = a fresh one
};

/// Reads adapter_config.json of a PEFT folder (core: no tensors). Throws Error naming file and field; what
/// cannot be honoured (biases, modules_to_save, an unknown field that is set, ...) is refused by name.
AdapterConfig read_adapter_config(const std::string& folder);
AdapterConfig parse_adapter_config(const std::string& text, const std::string& name);
/// Reads lorikeet.json beside it; all fields are empty when there is none.
AdapterNotes read_adapter_notes(const std::string& folder);

/// The modules of a model that a config adapts, layer by layer in the order of linear_modules(). Throws
/// Error(bad_format) when it names none of them or a rank is out of range.
std::vector<AdapterModule> adapter_modules(const ModelSpec& spec, const AdapterConfig& config);

/// adapter_config.json to be written: PEFT's fields only, top-level keys sorted, indented by 2. The base's
/// name never is a path of this machine.
std::string adapter_config_text(const AdapterConfig& config);
std::string adapter_notes_text(const AdapterNotes& notes);
/// README.md, the model card in PEFT's layout.
std::string adapter_card_text(const AdapterConfig& config, const AdapterNotes& notes);
/// The path of the adapter's weights in a folder; pickle weights are refused. Throws Error(not_found |
/// unsupported).
std::string adapter_weights_path(const std::string& folder);

}  // namespace lorikeet
