// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/engine_paths.h"

class QSettings;

namespace lorikeet::ui {

class DeviceMonitor;
class LibraryStore;
class RunStore;
class Theme;
struct WizardState;

/// What the pages work with, made once by the studio and passed down. Nothing here is owned.
struct StudioContext {
  EnginePaths paths;
  QSettings* settings = nullptr;  ///< studio.ini in the home folder
  Theme* theme = nullptr;
  DeviceMonitor* devices = nullptr;
  RunStore* runs = nullptr;
  LibraryStore* library = nullptr;
  WizardState* wizard = nullptr;  ///< outlives the window, so that Back and a change of language lose nothing
};

}  // namespace lorikeet::ui
