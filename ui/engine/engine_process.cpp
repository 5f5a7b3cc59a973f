// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/engine/engine_process.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QTimer>

namespace lorikeet::ui {

QProcessEnvironment engineEnvironment() {
  QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
  environment.insert(QStringLiteral("OMP_PROC_BIND"), QStringLiteral("true"));
  environment.insert(QStringLiteral("OMP_WAIT_POLICY"), QStringLiteral("passive"));
  environment.insert(QStringLiteral("GOMP_SPINCOUNT"), QStringLiteral("10000"));
  return environment;
}

EngineProcess::EngineProcess(QString engine, QObject* parent)
    : QObject(parent), m_engine(std::move(engine)) {}

EngineProcess::~EngineProcess() {
  if (!m_process) return;
  m_process->disconnect(this);
  if (!isRunning()) return;
  stop();
  // QProcess waits for its child when destroyed, so it stays behind until the child is gone.
  m_process->setParent(qApp);
  connect(m_process, &QProcess::finished, m_process, &QObject::deleteLater);
}

void EngineProcess::start(const QStringList& arguments) {
  m_rest.clear();
  m_errors.clear();
  m_stopping = false;
  if (m_process) m_process->deleteLater();
  m_process = new QProcess(this);
  m_process->setProcessEnvironment(engineEnvironment());
  connect(m_process, &QProcess::readyReadStandardOutput, this, &EngineProcess::readLines);
  connect(m_process, &QProcess::readyReadStandardError, this,
          [this] { m_errors = (m_errors + m_process->readAllStandardError()).right(16384); });
  connect(m_process, &QProcess::finished, this, &EngineProcess::finish);
  connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart) {
      emit ended(-1, tr("Cannot start the engine: %1 (%2)").arg(m_engine, m_process->errorString()));
    }
  });
  m_process->start(m_engine, arguments);
}

bool EngineProcess::isRunning() const {
  return m_process && m_process->state() != QProcess::NotRunning;
}

void EngineProcess::send(const QJsonObject& line) {
  if (isRunning()) m_process->write(QJsonDocument(line).toJson(QJsonDocument::Compact) + '\n');
}

void EngineProcess::stop() {
  if (!isRunning() || m_stopping) return;
  m_stopping = true;
  m_process->closeWriteChannel();
  m_process->terminate();
  QTimer::singleShot(5000, m_process, &QProcess::kill);
}

void EngineProcess::readLines() {
  m_rest += m_process->readAllStandardOutput();
  // A slot may start this process anew, so the lines are taken out first.
  const qsizetype last = m_rest.lastIndexOf('\n');
  const QList<QByteArray> lines = m_rest.left(last + 1).split('\n');
  m_rest.remove(0, last + 1);
  for (const QByteArray& line : lines) {
    const QJsonDocument document = QJsonDocument::fromJson(line);
    if (document.isObject()) emit message(document.object());
  }
}

void EngineProcess::finish(int exitCode, QProcess::ExitStatus status) {
  m_rest += '\n';
  readLines();
  QString why;
  if (!m_stopping && status == QProcess::CrashExit) {
    why = tr("The engine was killed, probably out of memory");
  } else if (!m_stopping && exitCode != 0) {
    why = QString::fromUtf8(m_errors).trimmed();
    if (why.isEmpty()) why = tr("The engine ended with code %1").arg(exitCode);
  }
  emit ended(exitCode, why);
}

}  // namespace lorikeet::ui
