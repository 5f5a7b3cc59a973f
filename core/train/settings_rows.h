// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <variant>
#include <vector>

#include "core/train/settings.h"

namespace lorikeet {

/// Where a setting is kept in Settings.
using SettingMember =
    std::variant<bool Settings::*, double Settings::*, std::int64_t Settings::*, std::uint64_t Settings::*,
                 std::string Settings::*, std::vector<std::string> Settings::*>;

/// The public description of a setting with its place; the one table everything about settings comes from.
struct SettingRow {
  SettingInfo info;
  SettingMember member;
};

const std::vector<SettingRow>& setting_rows();

}  // namespace lorikeet
