// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/train/settings.h"

namespace lorikeet {

/// A flag for every row of the settings table. Values are kept as written until the order of precedence is
/// known: flag, then job file, then default.
class SettingsFlags {
 public:
  void add_to(CLI::App& command);
  /// `base` with the flags that were given. Throws Error naming the flag.
  Settings apply(const Settings& base) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> given_;
};

}  // namespace lorikeet
