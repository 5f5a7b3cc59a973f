// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/wizard/presets.h"

#include <QCoreApplication>
#include <utility>
#include <vector>

namespace lorikeet::ui {
namespace {

using Values = std::vector<std::pair<const char*, const char*>>;

const Values& valuesOf(Preset preset) {
  static const Values fast = {{"rank", "8"},
                              {"alpha", "16"},
                              {"targets", "q_proj,k_proj,v_proj,o_proj"},
                              {"epochs", "1"},
                              {"schedule", "linear"}};
  static const Values balanced = {
      {"rank", "32"}, {"alpha", "32"}, {"targets", "all-linear"}, {"epochs", "3"}, {"schedule", "cosine"}};
  static const Values thorough = {
      {"rank", "64"}, {"alpha", "64"}, {"targets", "all-linear"}, {"epochs", "5"}, {"schedule", "cosine"}};
  static const Values none;
  switch (preset) {
    case Preset::fast:
      return fast;
    case Preset::balanced:
      return balanced;
    case Preset::thorough:
      return thorough;
    case Preset::own:
      return none;
  }
  return none;
}

class PresetText {
  Q_DECLARE_TR_FUNCTIONS(PresetText)
};

}  // namespace

QString presetName(Preset preset) {
  switch (preset) {
    case Preset::fast:
      return PresetText::tr("Fast");
    case Preset::balanced:
      return PresetText::tr("Balanced");
    case Preset::thorough:
      return PresetText::tr("Thorough");
    case Preset::own:
      return PresetText::tr("Own");
  }
  return {};
}

QString presetSentence(Preset preset) {
  switch (preset) {
    case Preset::fast:
      return PresetText::tr("Rank 8, attention only. To see whether the data works.");
    case Preset::balanced:
      return PresetText::tr("Rank 32, all linear layers. Right for most tasks.");
    case Preset::thorough:
      return PresetText::tr("Rank 64, all linear layers, sees each row more often.");
    case Preset::own:
      return {};
  }
  return {};
}

Settings withPreset(Settings settings, Preset preset) {
  for (const auto& [key, value] : valuesOf(preset)) set_setting(settings, key, value);
  if (preset != Preset::own) settings.max_steps = 0;  // it would override the preset's epochs
  return settings;
}

Preset matchingPreset(const Settings& settings) {
  for (const Preset preset : {Preset::fast, Preset::balanced, Preset::thorough}) {
    bool all = settings.max_steps == 0;
    const Settings wanted = withPreset(settings, preset);
    for (const auto& [key, value] : valuesOf(preset))
      all = all && setting_text(settings, key) == setting_text(wanted, key);
    if (all) return preset;
  }
  return Preset::own;
}

}  // namespace lorikeet::ui
