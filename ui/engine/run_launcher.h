// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <QStringList>

#include "core/train/run_folder.h"

namespace lorikeet::ui {

/// Starts engines that outlive the studio: in a session of their own, output to the run's engine.log.
class RunLauncher {
 public:
  explicit RunLauncher(QString engine) : m_engine(std::move(engine)) {}

  /// Makes the run folder with its job.json and starts `lorikeet train` on it. Throws Error.
  void start(const QString& runPath, const Job& job) const;
  /// Starts `lorikeet resume` for a run whose engine is gone. Throws Error.
  void resume(const QString& runPath) const;

  /// A folder name not yet taken under `runs`, made from what the person called the run.
  static QString freeRunFolder(const QString& runs, const QString& name);
  /// The same as a command line a person can type; only settings that differ from their defaults are named.
  static QString commandText(const Job& job, const QString& runPath);

 private:
  void launch(const QString& runPath, const QStringList& arguments) const;
  QString m_engine;
};

}  // namespace lorikeet::ui
