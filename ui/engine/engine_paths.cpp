// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/engine_paths.h"

#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

#include "core/base/files.h"

namespace lorikeet::ui {

EnginePaths EnginePaths::find() {
  EnginePaths paths;
  const QDir folder(QCoreApplication::applicationDirPath());
  paths.engine = folder.absoluteFilePath(QStringLiteral("lorikeet"));
  for (const QString& samples : {folder.absoluteFilePath(QStringLiteral("../share/lorikeet/samples")),
                                 QStringLiteral(LORIKEET_SOURCE_SAMPLES)}) {
    if (paths.samples.isEmpty() && QFileInfo::exists(samples + QStringLiteral("/stories.json"))) {
      paths.samples = QDir::cleanPath(samples);
    }
  }
  paths.home = QDir::cleanPath(QString::fromStdString(home_folder()));
  return paths;
}

}  // namespace lorikeet::ui
