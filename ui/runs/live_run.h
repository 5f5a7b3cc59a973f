// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QElapsedTimer>

#include "ui/engine/run_watcher.h"
#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QTimer;

namespace lorikeet::ui {

class Banner;
class LossCard;
class MetricRow;
class MiniChart;
class SampleStrip;

/// Everything about one run: figures, charts, sample answers, and what can be done with it now.
class LiveRun : public QWidget {
  Q_OBJECT
 public:
  explicit LiveRun(const StudioContext& context, QWidget* parent = nullptr);

  void setRun(const QString& runPath);
  const QString& runPath() const { return m_path; }
  void setActive(bool active);  ///< follows the run only while it is looked at
  QPushButton* primaryButton() const { return m_primary; }
  LossCard* lossCard() const { return m_loss; }
  MetricRow* metrics() const { return m_metrics; }
  Banner* banner() const { return m_banner; }
  SampleStrip* strip() const { return m_strip; }
  void pauseOrGoOn();
  void checkpointNow();
  void stopAndKeep();

 signals:
  void backRequested();
  void chatRequested(const QString& runPath);
  void exportRequested(const QString& runPath);

 private:
  /// What the actions offer; one of these at a time.
  enum class Phase { starting, running, pausing, paused, stopping, waiting, ended, done, closed };
  void makeHead();
  QWidget* makeCharts();
  void readJob();
  void apply(const RunUpdate& update);
  void addSteps(const RunUpdate& update);
  void showFigures();
  void showState();
  void showActions(Phase phase);
  void showTrouble(Phase phase);
  Phase phase() const;
  void request(ControlRequest request);
  void goOn();
  QString timeLeft() const;

  StudioContext m_context;
  QString m_path, m_name;
  RunUpdate m_now;  ///< newest state; its steps are in the chart
  RunWatcher* m_watcher = nullptr;
  QElapsedTimer m_sinceOpened;
  QTimer* m_startTimer;
  bool m_active = false;
  bool m_asked = false;  ///< a request was sent and not answered yet
  bool m_userStopped = false;
  std::int64_t m_dismissedWarnings = 0;

  PageHead* m_head;
  QPushButton* m_checkpoint;
  QPushButton* m_stop;
  QPushButton* m_primary;
  Banner* m_banner;
  Banner* m_coach;
  MetricRow* m_metrics;
  LossCard* m_loss;
  MiniChart* m_rate;
  MiniChart* m_norm;
  MiniChart* m_speed;
  MiniChart* m_memory;
  SampleStrip* m_strip;
};

}  // namespace lorikeet::ui
