// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/banner.h"

namespace lorikeet::ui {

class Chip;
class EngineProcess;
class ThinBar;

/// One export that runs or has ended: progress by tensors, then where it lies or why not.
class ExportRow : public QWidget {
  Q_OBJECT
 public:
  enum class State { running, done, failed, cancelled };
  ExportRow(const QString& engine, const QString& iconName, const QString& out, quint64 bytes,
            QWidget* parent = nullptr);
  void start(const QStringList& arguments);
  void cancel();
  State state() const { return m_state; }
  const QString& out() const { return m_out; }
  const QString& problem() const { return m_problem; }

 signals:
  void ended();

 private:
  void finish(int exitCode, const QString& why);
  EngineProcess* m_engine;
  QString m_out, m_problem;
  quint64 m_bytes;
  State m_state = State::running;
  Label* m_detail;
  ThinBar* m_bar;
  Chip* m_chip;
  QPushButton* m_button;
};

}  // namespace lorikeet::ui
