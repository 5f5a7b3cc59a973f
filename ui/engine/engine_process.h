// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QByteArray>
#include <QJsonObject>
#include <QObject>
#include <QProcess>

namespace lorikeet::ui {

/// The environment every engine gets: threads bound and passive before OpenMP loads.
QProcessEnvironment engineEnvironment();

/// One `lorikeet` child that speaks JSON lines. Ends with its standard input; destroying this object never
/// waits.
class EngineProcess : public QObject {
  Q_OBJECT
 public:
  explicit EngineProcess(QString engine, QObject* parent = nullptr);
  ~EngineProcess() override;

  void start(const QStringList& arguments);
  bool isRunning() const;
  void send(const QJsonObject& line);
  /// Closes its input, asks it to end, kills it after five seconds.
  void stop();

 signals:
  void message(const QJsonObject& line);
  /// `why` is what the engine said on stderr, or what the system knows of its end; empty after a clean end.
  void ended(int exitCode, const QString& why);

 private:
  void readLines();
  void finish(int exitCode, QProcess::ExitStatus status);

  QString m_engine;
  QProcess* m_process = nullptr;
  QByteArray m_rest, m_errors;
  bool m_stopping = false;
};

}  // namespace lorikeet::ui
