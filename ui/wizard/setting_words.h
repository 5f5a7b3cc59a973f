// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <string>

#include "core/train/settings.h"

namespace lorikeet::ui {

/// How a setting and its values are called in the form. What is not listed is written as on the command line.
QString settingLabel(const SettingInfo& info);
QString choiceLabel(const SettingInfo& info, const std::string& choice);
/// One line beside the field.
QString settingHint(const SettingInfo& info);
QString unitLabel(const SettingInfo& info);
/// Name, meaning, range and source as rich text, for tooltips and the help page.
QString settingTip(const SettingInfo& info);
/// False for settings that are known by name but refuse every value but their default.
bool isBuilt(const SettingInfo& info);

}  // namespace lorikeet::ui
