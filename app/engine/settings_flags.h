// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/train/settings.h"

namespace lorikeet {

/// A flag for every row of the settings table. Values are kept as written until the order of precedence is
/// known: flag, then job file, then default.
class SettingsFlags {
 public:
  /// All rows, or those with these keys.
  void add_to(CLI::App& command, std::initializer_list<std::string_view> only = {});
  /// `base` with the flags that were given. Throws Error naming the flag.
  Settings apply(const Settings& base) const;
  /// Key and text of those that were given, checked; lists line by line. Throws Error naming the flag.
  std::vector<std::pair<std::string, std::string>> given() const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> given_;
};

}  // namespace lorikeet
