// SPDX-License-Identifier: Apache-2.0
#include "core/train/adapter_settings.h"

#include <algorithm>
#include <set>

#include "core/model/adapter_files.h"
#include "core/train/plan.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Names within a layer that the adapter changes anywhere, as the setting "targets" writes them.
std::string target_text(const ModelSpec& spec, const AdapterConfig& config) {
  std::set<std::string> names;
  for (const auto& module : adapter_modules(spec, config))
    names.insert(module.name.substr(module.name.rfind('.') + 1));
  const auto all = linear_modules(spec);
  if (names.size() == all.size()) return "all-linear";
  std::string text;
  for (const auto& module : all) {
    const std::string name = module.name.substr(module.name.rfind('.') + 1);
    if (names.contains(name)) text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

}  // namespace

Settings carried_settings(const ModelSpec& spec, const std::string& adapter_folder, const Settings& base) {
  const AdapterConfig config = read_adapter_config(adapter_folder);
  Settings settings = base;
  settings.rank = config.rank;
  settings.alpha = config.alpha;
  settings.rslora = config.rslora;
  settings.dora = config.dora;
  settings.targets = target_text(spec, config);
  if (config.dropout >= 0 && config.dropout <= find_setting("dropout")->high)
    settings.dropout = config.dropout;
  return settings;
}

void check_carried(const ModelSpec& spec, const std::string& adapter_folder, const Settings& settings) {
  const Settings carried = carried_settings(spec, adapter_folder);
  // Targets may be written in other ways that mean the same modules.
  const auto modules = [&](const Settings& of) {
    std::set<std::string> names;
    for (const auto& module : adapted_modules(spec, of.targets)) names.insert(module.name);
    return names;
  };
  const bool same_targets = modules(settings) == modules(carried);
  for (const char* key : {"rank", "alpha", "rslora", "dora", "targets"}) {
    const std::string asked = setting_text(settings, key), has = setting_text(carried, key);
    if (asked == has || (std::string(key) == "targets" && same_targets)) continue;
    throw Error(ErrorCode::invalid_argument,
                std::string(key) + " " + asked + " differs from the adapter's " + has, adapter_folder,
                "Leave " + std::string(key) + " away, or train a new adapter");
  }
}

}  // namespace lorikeet
