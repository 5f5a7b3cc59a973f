// SPDX-License-Identifier: Apache-2.0
// Which linear layers an adapter changes, by PEFT's rules (formats.md §3.5).
#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/model/adapter_files.h"
#include "core/model/module_pattern.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// A choice with its pattern compiled.
class Matcher {
 public:
  Matcher(const ModuleChoice& choice, const std::string& where) : choice_(choice) {
    if (!choice.pattern.empty()) pattern_.emplace(choice.pattern, where);
  }
  bool is_exactly(const std::string& path) const {
    return std::find(choice_.names.begin(), choice_.names.end(), path) != choice_.names.end();
  }
  bool matches(const std::string& path) const {
    if (choice_.all_linear) return true;
    if (pattern_) return pattern_->matches(path);
    const auto named = [&](const std::string& name) { return path == name || path.ends_with("." + name); };
    return std::any_of(choice_.names.begin(), choice_.names.end(), named);
  }

 private:
  const ModuleChoice& choice_;
  std::optional<ModulePattern> pattern_;
};

/// layers_to_transform: the layer's number is what stands after the name of the list of layers.
class LayerFilter {
 public:
  explicit LayerFilter(const AdapterConfig& config) : layers_(config.layers) {
    if (!layers_) return;
    if (config.layer_patterns.empty()) patterns_.emplace_back(R"(.*\.[^.]*\.(\d+)\.)", "layers_pattern");
    for (const std::string& pattern : config.layer_patterns) {
      patterns_.emplace_back(".*\\." + pattern + R"(\.(\d+)\.)", "layers_pattern");
    }
  }
  bool allows(const std::string& path) const {
    if (!layers_) return true;
    for (const ModulePattern& pattern : patterns_) {
      const std::optional<std::string> number = pattern.first_group(path);
      if (!number) continue;
      std::int64_t layer = -1;
      std::from_chars(number->data(), number->data() + number->size(), layer);
      return std::find(layers_->begin(), layers_->end(), layer) != layers_->end();
    }
    return false;
  }

 private:
  const std::optional<std::vector<std::int64_t>>& layers_;
  std::vector<ModulePattern> patterns_;
};

/// Values of rank_pattern or alpha_pattern: the first pattern that fits the end of a path.
template <typename T>
class Override {
 public:
  Override(const std::vector<std::pair<std::string, T>>& patterns, const char* where) {
    for (const auto& [pattern, value] : patterns) {
      values_.emplace_back(ModulePattern("(.*\\.)?(" + pattern + ")", where), value);
    }
  }
  T value(const std::string& path, T otherwise) const {
    for (const auto& [pattern, value] : values_) {
      if (pattern.matches(path)) return value;
    }
    return otherwise;
  }

 private:
  std::vector<std::pair<ModulePattern, T>> values_;
};

/// What PEFT adapts when a configuration names nothing.
std::vector<std::string> default_targets(const ModelSpec& spec) {
  if (spec.family == "phi") return {"q_proj", "v_proj", "fc1", "fc2"};
  if (spec.fused_qkv) return {"qkv_proj"};
  return {"q_proj", "v_proj"};
}

}  // namespace

std::vector<AdapterModule> adapter_modules(const ModelSpec& spec, const AdapterConfig& config) {
  ModuleChoice targets = config.targets;
  if (targets.empty()) targets.names = default_targets(spec);
  const Matcher wanted(targets, "target_modules"), excluded(config.excluded, "exclude_modules");
  const LayerFilter layers(config);
  const Override<std::int64_t> ranks(config.rank_pattern, "rank_pattern");
  const Override<double> alphas(config.alpha_pattern, "alpha_pattern");
  std::vector<AdapterModule> modules;
  for (std::int64_t layer = 0; layer < spec.layers; ++layer) {
    for (const LinearModule& linear : linear_modules(spec)) {
      AdapterModule module{layer, linear.name, linear.out, linear.in, 0, 0, linear.rows};
      const std::string path = module.path();
      // A path named in full is taken whatever layers_to_transform says, as PEFT does.
      if (excluded.matches(path) || !wanted.matches(path) ||
          !(wanted.is_exactly(path) || layers.allows(path)))
        continue;
      module.rank = ranks.value(path, config.rank);
      const auto rank = static_cast<double>(module.rank);
      module.scale = alphas.value(path, config.alpha) / (config.rslora ? std::sqrt(rank) : rank);
      if (module.rank < 1 || !std::isfinite(module.scale)) {
        throw Error(ErrorCode::bad_format, "The rank or alpha of a module is out of range",
                    "adapter_config.json: " + path);
      }
      modules.push_back(std::move(module));
    }
  }
  if (modules.empty()) {
    throw Error(ErrorCode::bad_format, "The adapter's target_modules name no linear layer of this model",
                "adapter_config.json: target_modules", "It may be made for another family of models");
  }
  return modules;
}

}  // namespace lorikeet
