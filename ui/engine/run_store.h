// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDateTime>
#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "core/train/run_folder.h"

class QTimer;

namespace lorikeet::ui {

/// One run as lists show it.
struct RunSummary {
  QString path, name, modelName, modelPath, dataName;
  RunState state = RunState::loading;
  QString why;  ///< of the state, or the error's sentence
  bool started = false, alive = false, killed = false;
  std::int64_t step = 0, totalSteps = 0;
  std::optional<double> loss, evalLoss;  ///< last training loss, best evaluation loss
  double tokensPerSecond = 0, elapsedSeconds = 0;
  QDateTime changed;    ///< of the last event, else of job.json
  QString adapterPath;  ///< of a finished run

  bool isLive() const { return alive; }
  bool isDone() const { return state == RunState::done && !adapterPath.isEmpty(); }
  double fraction() const { return totalSteps > 0 ? double(step) / double(totalSteps) : 0; }
  /// Seconds to the end by the steps so far; nothing when not known.
  std::optional<double> secondsLeft() const;
  bool operator==(const RunSummary&) const = default;
};

/// The runs of the home folder, newest first; scanned on pool threads. Runs that went on while the window was
/// closed are found by their lock.
class RunStore : public QObject {
  Q_OBJECT
 public:
  explicit RunStore(QString runsFolder, QObject* parent = nullptr);
  ~RunStore() override;

  const std::vector<RunSummary>& runs() const { return m_runs; }
  bool isLoaded() const { return m_loaded; }
  const RunSummary* find(const QString& path) const;
  const RunSummary* live() const;  ///< the newest run an engine holds
  const QString& folder() const { return m_folder; }
  void refresh();
  void watch(bool on);

  /// Drops a control file for the run's engine, off the GUI thread.
  void request(const QString& runPath, ControlRequest request);

 signals:
  void changed();
  void finished(const lorikeet::ui::RunSummary& run);  ///< an engine that was alive has ended
  void requestFailed(const QString& sentence);

 private:
  struct Scanner;
  QString m_folder;
  std::shared_ptr<Scanner> m_scanner;
  std::vector<RunSummary> m_runs;
  QTimer* m_timer;
  bool m_busy = false, m_loaded = false;
};

}  // namespace lorikeet::ui
