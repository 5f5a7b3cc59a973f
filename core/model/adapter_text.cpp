// SPDX-License-Identifier: Apache-2.0
// What an adapter folder says in text: adapter_config.json, lorikeet.json, README.md.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/json.h"
#include "core/model/adapter_files.h"

namespace lorikeet {
namespace {

/// "org/name" of a hub or the last part of a path: never where somebody keeps their files.
std::string public_name(const std::string& name) {
  const auto slashes = std::count(name.begin(), name.end(), '/');
  const bool path = name.find('\\') != std::string::npos || name.starts_with('/') || name.starts_with('.') ||
                    name.starts_with('~') || slashes > 1;
  if (!path) return name;
  std::string end = name;
  while (!end.empty() && (end.back() == '/' || end.back() == '\\')) end.pop_back();
  return end.substr(end.find_last_of("/\\") + 1);
}

Json json_of(double number) {
  if (std::floor(number) == number && std::abs(number) < 1e15) return static_cast<std::int64_t>(number);
  return number;
}

Json json_of(const ModuleChoice& choice) {
  if (choice.all_linear) return "all-linear";
  if (!choice.pattern.empty()) return choice.pattern;
  if (choice.names.empty()) return nullptr;
  std::vector<std::string> names = choice.names;
  std::sort(names.begin(), names.end());
  return names;
}

/// The fields every PEFT since 0.6 knows (formats.md §3.3), of an adapter made here.
Json fresh_config(const AdapterConfig& config) {
  Json json;
  for (const char* key :
       {"auto_mapping", "layers_pattern", "layers_to_transform", "modules_to_save", "revision"}) {
    json[key] = nullptr;
  }
  json["alpha_pattern"] = Json::object();
  json["rank_pattern"] = Json::object();
  json["bias"] = "none";
  json["fan_in_fan_out"] = false;
  json["init_lora_weights"] = true;
  json["peft_type"] = "LORA";
  json["task_type"] = "CAUSAL_LM";
  json["r"] = config.rank;
  json["lora_alpha"] = json_of(config.alpha);
  json["lora_dropout"] = config.dropout;
  json["target_modules"] = json_of(config.targets);
  // A field PEFT learned later is written only when it says something, so that an old PEFT can still read the
  // file.
  if (config.rslora) json["use_rslora"] = true;
  if (config.dora) json["use_dora"] = true;
  return json;
}

/// A text as code in Markdown; what would end it is left out.
std::string markdown_code(std::string text) {
  std::erase_if(text, [](char c) { return c == '`' || c == '\n' || c == '\r'; });
  return "`" + text + "`";
}

/// How transformers loads a base in this quantisation.
std::string loading_hint(const std::string& quantization) {
  if (quantization == "int8") return "In transformers: `BitsAndBytesConfig(load_in_8bit=True)`.";
  const std::string type = quantization.substr(0, 3);
  const std::string nested = quantization.ends_with("-single") ? "" : ", bnb_4bit_use_double_quant=True";
  return "In transformers: `BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type=\"" + type + "\"" +
         nested + ")`.";
}

/// A text as a YAML string.
std::string quoted(const std::string& text) {
  return dump_json(Json(text));
}

}  // namespace

std::string adapter_config_text(const AdapterConfig& config) {
  Json json = config.text.empty() ? fresh_config(config) : parse_json(config.text, "adapter_config.json");
  json["base_model_name_or_path"] =
      config.base_name.empty() ? Json(nullptr) : Json(public_name(config.base_name));
  json["inference_mode"] = true;
  std::vector<std::string> keys;
  for (const auto& item : json.items()) keys.push_back(item.key());
  std::sort(keys.begin(), keys.end());
  // Only the top level is sorted: in rank_pattern and alpha_pattern the order has a meaning.
  Json sorted;
  for (const std::string& key : keys) sorted[key] = json[key];
  return dump_json(sorted, 2);
}

std::string adapter_notes_text(const AdapterNotes& notes) {
  Json json;
  json["format"] = notes.format;
  json["template"] = notes.template_text;
  json["template_hash"] = notes.template_hash;
  json["system"] = notes.system;
  json["stop_ids"] = notes.stop_ids;
  json["rope"] = {{"type", notes.rope_linear_factor == 1 ? "default" : "linear"},
                  {"factor", notes.rope_linear_factor}};
  json["quantization"] = notes.quantization;
  // Said only when it matters: the adapter then fits that quantised base only.
  if (!notes.init.empty()) json["init"] = notes.init;
  json["base_id"] = notes.base_id;
  json["base_name"] = public_name(notes.base_name);
  json["run_id"] = notes.run_id;
  for (const AdapterParent& parent : notes.lineage)
    json["lineage"].push_back(
        {{"name", public_name(parent.name)}, {"run_id", parent.run_id}, {"sha256", parent.sha256}});
  return dump_json(json, 2) + "\n";
}

std::string adapter_card_text(const AdapterConfig& config, const AdapterNotes& notes) {
  const std::string base = public_name(config.base_name);
  std::string card = "---\n";
  if (!base.empty()) card += "base_model: " + quoted(base) + "\n";
  card += "library_name: peft\npipeline_tag: text-generation\ntags:\n";
  if (!base.empty()) card += "- " + quoted("base_model:adapter:" + base) + "\n";
  card += "- lora\n- transformers\n---\n\n# LoRA adapter" + (base.empty() ? std::string() : " for " + base) +
          "\n\n";
  card += "Trained with Lorikeet. Rank " + std::to_string(config.rank) + ", alpha " +
          dump_json(json_of(config.alpha)) + (config.rslora ? ", rank-stabilised" : "") +
          (config.dora ? ", magnitude and direction apart (DoRA)" : "") + ".\n\n";
  if (!notes.lineage.empty()) {
    const AdapterParent& parent = notes.lineage.front();
    card += "It goes on from the adapter " + markdown_code(public_name(parent.name)) +
            " (SHA-256 of its weights: " + markdown_code(parent.sha256) + ").\n\n";
  }
  card += "`lorikeet.json` says which prompt template, system text and end tokens it was trained with.\n\n";
  if (notes.init == "loftq") {
    card +=
        "Started by LoftQ: it makes up for what quantisation took from the base, so it fits the base "
        "quantised to " +
        notes.quantization + " only, not the 16-bit one. " + loading_hint(notes.quantization) + "\n\n";
  }
  card += "### Framework versions\n\n- PEFT layout, readable by PEFT " +
          std::string(config.dora     ? "0.10"
                      : config.rslora ? "0.8"
                                      : "0.6") +
          " and later\n";
  return card;
}

}  // namespace lorikeet
