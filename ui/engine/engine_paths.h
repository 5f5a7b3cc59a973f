// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace lorikeet::ui {

/// Where things lie: the engine beside the studio's binary, the bundled sample, the home folder.
struct EnginePaths {
  QString engine;   ///< the lorikeet binary
  QString samples;  ///< folder with nest/ and stories.json, "" when it is not there
  QString home;     ///< LORIKEET_HOME or the XDG data folder's lorikeet/

  static EnginePaths find();
  QString runsFolder() const { return home + QStringLiteral("/runs"); }
  QString exportsFolder() const { return home + QStringLiteral("/exports"); }
  QString sampleModel() const { return samples.isEmpty() ? QString() : samples + QStringLiteral("/nest"); }
  QString sampleData() const {
    return samples.isEmpty() ? QString() : samples + QStringLiteral("/stories.json");
  }
};

}  // namespace lorikeet::ui
