// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/run_launcher.h"

#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>

#include "kernels/base/error.h"
#include "ui/engine/engine_process.h"

namespace lorikeet::ui {
namespace {

/// Quoted for a POSIX shell when it has to be.
QString quoted(const QString& text) {
  static const QRegularExpression plain(QStringLiteral("^[A-Za-z0-9_@%+=:,./-]+$"));
  if (plain.match(text).hasMatch()) return text;
  QString inner = text;
  inner.replace(QLatin1Char('\''), QStringLiteral("'\\''"));
  return QLatin1Char('\'') + inner + QLatin1Char('\'');
}

}  // namespace

void RunLauncher::start(const QString& runPath, const Job& job) const {
  RunFolder::create(runPath.toStdString(), job);
  launch(runPath, {QStringLiteral("train"), QStringLiteral("--run"), runPath, QStringLiteral("--job"),
                   runPath + QStringLiteral("/job.json")});
}

void RunLauncher::resume(const QString& runPath) const {
  launch(runPath, {QStringLiteral("resume"), runPath});
}

void RunLauncher::launch(const QString& runPath, const QStringList& arguments) const {
  QProcess process;
  process.setProgram(m_engine);
  process.setArguments(arguments);
  process.setWorkingDirectory(runPath);
  process.setProcessEnvironment(engineEnvironment());
  const QString log = runPath + QStringLiteral("/engine.log");
  process.setStandardInputFile(QProcess::nullDevice());
  process.setStandardOutputFile(log, QIODevice::Append);
  process.setStandardErrorFile(log, QIODevice::Append);
  // startDetached gives the child a session of its own, so it outlives the studio and its terminal.
  if (!process.startDetached()) {
    throw Error(ErrorCode::io, "Cannot start the engine", m_engine.toStdString(),
                "Check that the file is there and may be run");
  }
}

QString RunLauncher::freeRunFolder(const QString& runs, const QString& name) {
  static const QRegularExpression odd(QStringLiteral("[^a-z0-9]+"));
  QString stem = name.toLower().replace(odd, QStringLiteral("-"));
  while (stem.startsWith(QLatin1Char('-'))) stem.remove(0, 1);
  while (stem.endsWith(QLatin1Char('-'))) stem.chop(1);
  if (stem.isEmpty()) stem = QStringLiteral("run");
  stem.truncate(64);
  QString path = runs + QLatin1Char('/') + stem;
  for (int i = 2; QFileInfo::exists(path); ++i) path = QStringLiteral("%1/%2-%3").arg(runs, stem).arg(i);
  return path;
}

QString RunLauncher::commandText(const Job& job, const QString& runPath) {
  QStringList parts{QStringLiteral("lorikeet train"),
                    QStringLiteral("--model ") + quoted(QString::fromStdString(job.model_path)),
                    QStringLiteral("--data ") + quoted(QString::fromStdString(job.data_path)),
                    QStringLiteral("--run ") + quoted(runPath)};
  if (!job.adapter_path.empty()) {
    parts << QStringLiteral("--adapter ") + quoted(QString::fromStdString(job.adapter_path));
  }
  const Settings defaults;
  for (const SettingInfo& info : settings_table()) {
    const std::string text = setting_text(job.settings, info.key);
    if (text == setting_text(defaults, info.key)) continue;
    parts << QStringLiteral("--%1 %2").arg(QString::fromStdString(info.key),
                                           quoted(QString::fromStdString(text)));
  }
  return parts.join(QStringLiteral(" \\\n  "));
}

}  // namespace lorikeet::ui
