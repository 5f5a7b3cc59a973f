// SPDX-License-Identifier: Apache-2.0
#include "core/model/adapter_files.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/foreign_file.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t most_ancestors = 1000;

constexpr std::uint64_t max_config_bytes = 16u << 20;
constexpr std::int64_t max_rank = 1 << 16;

/// Fields that say nothing about how the adapter is used once it is trained.
constexpr const char* ignored_fields[] = {
    "auto_mapping",      "corda_config", "ensure_weight_tying", "eva_config",    "inference_mode",
    "loftq_config",      "lora_dropout", "lora_ga_config",      "megatron_core", "peft_version",
    "qalora_group_size", "revision",     "runtime_config"};
/// Fields read below.
constexpr const char* used_fields[] = {
    "alpha_pattern",  "base_model_name_or_path", "bias",       "exclude_modules", "init_lora_weights",
    "layers_pattern", "layers_to_transform",     "lora_alpha", "peft_type",       "r",
    "rank_pattern",   "target_modules",          "task_type",  "use_dora",        "use_rslora"};

bool is_unset(const Json& value) {
  if (value.is_boolean()) return !value.get<bool>();
  if (value.is_string()) return value.get_ref<const std::string&>().empty();
  return value.is_null() || (value.is_structured() && value.empty());
}

[[noreturn]] void unsupported(const std::string& what, const std::string& where) {
  throw Error(ErrorCode::unsupported, what, where,
              "Merge it into the base model with PEFT and use the merged model");
}

void refuse_what_is_not_built(const Json& json, const std::string& name) {
  const std::string kind = json_string(json, "peft_type", "", name);
  if (kind.empty()) throw Error(ErrorCode::bad_format, "The configuration does not say its peft_type", name);
  if (kind != "LORA")
    unsupported("Adapters of the kind " + kind + " cannot be used yet", name + ": peft_type");
  const std::string task = json_string(json, "task_type", "CAUSAL_LM", name);
  if (task != "CAUSAL_LM")
    unsupported("Adapters for the task " + task + " cannot be used", name + ": task_type");
  if (const std::string bias = json_string(json, "bias", "none", name); bias != "none") {
    unsupported("Trained biases (" + bias + ") cannot be used yet", name + ": bias");
  }
  if (const auto init = json.find("init_lora_weights"); init != json.end() && init->is_string()) {
    const auto how = init->get<std::string>();
    for (const char* changes_base : {"pissa", "olora", "corda", "lora_ga"}) {
      if (how.rfind(changes_base, 0) == 0) {
        unsupported("The adapter started from " + how + ", which also changed the base's weights",
                    name + ": init_lora_weights");
      }
    }
  }
  const auto known = [](const auto& list, const std::string& key) {
    return std::any_of(std::begin(list), std::end(list), [&](const char* field) { return key == field; });
  };
  for (const auto& [key, value] : json.items()) {
    if (known(used_fields, key) || known(ignored_fields, key) || is_unset(value)) continue;
    unsupported("The field " + key + " is set and cannot be honoured", name + ": " + key);
  }
}

std::vector<std::string> text_list(const Json& value, const std::string& where) {
  std::vector<std::string> list;
  for (const Json& one : value) {
    if (!one.is_string()) throw Error(ErrorCode::bad_format, "Expected a list of names", where);
    list.push_back(one.get<std::string>());
  }
  return list;
}

ModuleChoice read_choice(const Json& json, const char* key, const std::string& name) {
  ModuleChoice choice;
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return choice;
  if (found->is_array()) {
    choice.names = text_list(*found, name + ": " + key);
  } else if (found->is_string()) {
    choice.pattern = found->get<std::string>();
    std::string lower = choice.pattern;
    for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    if (lower == "all-linear") {
      choice.all_linear = true;
      choice.pattern.clear();
    }
  } else {
    throw Error(ErrorCode::bad_format, "Expected names or a pattern", name + ": " + key);
  }
  return choice;
}

void read_layers(const Json& json, const std::string& name, AdapterConfig& config) {
  if (const auto found = json.find("layers_to_transform"); found != json.end() && !found->is_null()) {
    const Json list = found->is_array() ? *found : Json::array({*found});
    config.layers.emplace();
    for (const Json& layer : list) {
      Json one;
      one["layers_to_transform"] = layer;
      config.layers->push_back(json_int(one, "layers_to_transform", 0, 0, 1 << 20, name));
    }
    if (config.layers->empty()) config.layers.reset();
  }
  if (const auto found = json.find("layers_pattern"); found != json.end() && !found->is_null()) {
    config.layer_patterns =
        text_list(found->is_array() ? *found : Json::array({*found}), name + ": layers_pattern");
  }
}

void read_patterns(const Json& json, const std::string& name, AdapterConfig& config) {
  for (const char* key : {"rank_pattern", "alpha_pattern"}) {
    const auto found = json.find(key);
    if (found == json.end() || found->is_null()) continue;
    const std::string where = name + ": " + key;
    if (!found->is_object()) throw Error(ErrorCode::bad_format, "Expected an object", where);
    for (const auto& item : found->items()) {
      const std::string& pattern = item.key();
      if (std::string_view(key) == "rank_pattern") {
        config.rank_pattern.emplace_back(pattern, json_int(*found, pattern.c_str(), 0, 1, max_rank, where));
      } else {
        config.alpha_pattern.emplace_back(pattern, json_number(*found, pattern.c_str(), 0, where));
      }
    }
  }
}

}  // namespace

AdapterConfig parse_adapter_config(const std::string& text, const std::string& name) {
  const Json json = parse_json(text, name);
  if (!json.is_object()) throw Error(ErrorCode::bad_format, "The configuration is not a JSON object", name);
  refuse_what_is_not_built(json, name);
  AdapterConfig config;
  config.text = text;
  config.rank = json_int(json, "r", 8, 1, max_rank, name);
  config.alpha = json_number(json, "lora_alpha", 8, name);
  config.dropout = json_number(json, "lora_dropout", 0, name);
  config.rslora = json_bool(json, "use_rslora", false, name);
  config.dora = json_bool(json, "use_dora", false, name);
  config.base_name = json_string(json, "base_model_name_or_path", "", name);
  config.targets = read_choice(json, "target_modules", name);
  config.excluded = read_choice(json, "exclude_modules", name);
  read_layers(json, name, config);
  read_patterns(json, name, config);
  if (config.layers && config.targets.names.empty() && !config.targets.empty()) {
    throw Error(ErrorCode::bad_format, "layers_to_transform needs a list of target_modules",
                name + ": layers_to_transform");
  }
  return config;
}

AdapterConfig read_adapter_config(const std::string& folder) {
  const std::string path = folder + "/adapter_config.json";
  if (!std::filesystem::exists(path)) {
    throw Error(ErrorCode::not_found, "This folder is no adapter, it has no adapter_config.json", folder,
                "Give the folder that holds adapter_config.json and adapter_model.safetensors");
  }
  return parse_adapter_config(read_file(path, max_config_bytes), path);
}

AdapterNotes read_adapter_notes(const std::string& folder) {
  const std::string path = folder + "/lorikeet.json";
  AdapterNotes notes;
  if (!std::filesystem::exists(path)) return notes;
  const Json json = read_json_file(path, max_config_bytes);
  if (!json.is_object()) throw Error(ErrorCode::bad_format, "The notes are not a JSON object", path);
  notes.format = json_string(json, "format", "", path);
  notes.template_text = json_string(json, "template", "", path);
  notes.template_hash = json_string(json, "template_hash", "", path);
  notes.system = json_string(json, "system", "", path);
  notes.base_id = json_string(json, "base_id", "", path);
  notes.base_name = json_string(json, "base_name", "", path);
  notes.run_id = json_string(json, "run_id", "", path);
  notes.quantization = json_string(json, "quantization", "", path);
  notes.init = json_string(json, "init", "", path);
  if (const auto found = json.find("stop_ids"); found != json.end() && !found->is_null()) {
    if (!found->is_array()) throw Error(ErrorCode::bad_format, "Expected a list", path + ": stop_ids");
    for (const Json& id : *found) {
      Json one;
      one["stop_ids"] = id;
      notes.stop_ids.push_back(static_cast<std::int32_t>(json_int(one, "stop_ids", -1, 0, 1 << 24, path)));
    }
  }
  if (const auto found = json.find("rope"); found != json.end() && found->is_object()) {
    notes.rope_linear_factor = json_number(*found, "factor", 1, path + ": rope");
  }
  if (!(notes.rope_linear_factor > 0 && notes.rope_linear_factor <= 1e6)) {
    throw Error(ErrorCode::bad_format, "The RoPE factor is not between 0 and 1e6", path + ": rope");
  }
  if (const auto found = json.find("lineage"); found != json.end() && !found->is_null()) {
    if (!found->is_array() || found->size() > most_ancestors)
      throw Error(ErrorCode::bad_format, "Expected a list of at most " + std::to_string(most_ancestors),
                  path + ": lineage");
    for (const Json& one : *found) {
      if (!one.is_object()) throw Error(ErrorCode::bad_format, "Expected an object", path + ": lineage");
      notes.lineage.push_back({json_string(one, "name", "", path), json_string(one, "run_id", "", path),
                               json_string(one, "sha256", "", path)});
    }
  }
  return notes;
}

std::string adapter_weights_path(const std::string& folder) {
  const std::string path = folder + "/adapter_model.safetensors";
  if (std::filesystem::exists(path)) return path;
  const std::string pickle = folder + "/adapter_model.bin";
  if (std::filesystem::exists(pickle)) throw pickle_error(pickle);
  throw Error(ErrorCode::not_found, "The adapter has no weights (adapter_model.safetensors)", folder);
}

}  // namespace lorikeet
