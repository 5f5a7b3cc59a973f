// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "core/train/run_folder.h"

class QTimer;

namespace lorikeet::ui {

class RunTail;

/// What is new in a run. Steps come as additions (or all of them after `reset`), the short lists whole.
struct RunUpdate {
  bool reset = false;  ///< forget the steps known so far
  std::vector<StepEvent> steps;
  std::vector<EvalEvent> evaluations;
  std::vector<SampleEvent> samples;
  std::vector<CheckpointEvent> checkpoints;
  std::vector<WarningEvent> warnings;
  RunState state = RunState::loading;
  QString why;
  std::int64_t totalSteps = 0;
  double lastTime = 0;
  std::optional<ErrorEvent> error;
  std::optional<DoneEvent> done;
  bool started = false;  ///< there is an events.jsonl with something in it
  bool alive = false;    ///< an engine holds the run
  bool killed() const { return started && !alive && state != RunState::done && state != RunState::failed; }
};

/// Follows one run folder and reports what is new. Reading happens on pool threads; signals come on the GUI
/// thread.
class RunWatcher : public QObject {
  Q_OBJECT
 public:
  explicit RunWatcher(QString runPath, QObject* parent = nullptr);
  ~RunWatcher() override;
  void start(int milliseconds = 200);
  void stop();
  const QString& runPath() const { return m_path; }
  void pollNow();

 signals:
  void updated(const lorikeet::ui::RunUpdate& update);

 private:
  struct Shared;
  QString m_path;
  std::shared_ptr<Shared> m_shared;
  QTimer* m_timer;
  bool m_busy = false;
  bool m_wasAlive = false, m_first = true;
};

}  // namespace lorikeet::ui
