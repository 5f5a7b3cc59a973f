// SPDX-License-Identifier: Apache-2.0
#include "app/engine/settings_flags.h"

#include <algorithm>

#include "kernels/base/error.h"

namespace lorikeet {

void SettingsFlags::add_to(CLI::App& command, std::initializer_list<std::string_view> only) {
  given_.reserve(settings_table().size());
  for (const auto& info : settings_table()) {
    if (only.size() > 0 && std::find(only.begin(), only.end(), info.key) == only.end()) continue;
    given_.emplace_back(info.key, std::vector<std::string>{});
    std::string help = info.help;
    if (!info.default_text.empty()) help += " [" + info.default_text + "]";
    CLI::Option* option = command.add_option("--" + info.key, given_.back().second, help);
    option->group("Settings: " + info.group);
    // Lists may be given several times; for the others the last one stands, as with most programs.
    if (info.kind == SettingInfo::Kind::text_list) {
      option->take_all()->expected(1);
    } else {
      option->take_last()->expected(1);
    }
    option->type_name("VALUE");
  }
}

Settings SettingsFlags::apply(const Settings& base) const {
  Settings settings = base;
  for (const auto& [key, text] : given()) set_setting(settings, key, text);
  return settings;
}

std::vector<std::pair<std::string, std::string>> SettingsFlags::given() const {
  std::vector<std::pair<std::string, std::string>> given;
  Settings scratch;
  for (const auto& [key, values] : given_) {
    if (values.empty()) continue;
    std::string text;
    for (const auto& value : values) text += (text.empty() ? "" : "\n") + value;
    try {
      set_setting(scratch, key, text);
    } catch (const Error& error) {
      throw Error(error.code(), error.message(), "--" + key, error.hint());
    }
    given.emplace_back(key, text);
  }
  return given;
}

}  // namespace lorikeet
