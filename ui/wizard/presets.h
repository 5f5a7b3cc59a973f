// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/wizard/wizard_state.h"

namespace lorikeet::ui {

QString presetName(Preset preset);
QString presetSentence(Preset preset);
/// `settings` with what the preset sets; everything else stays.
Settings withPreset(Settings settings, Preset preset);
/// The preset whose values `settings` has, own when none.
Preset matchingPreset(const Settings& settings);

}  // namespace lorikeet::ui
