// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/run_store.h"
#include "ui/widgets/controls.h"

namespace lorikeet::ui {

class Chip;
class LossChart;
class RunWatcher;
struct RunUpdate;

/// The run that lives: name, progress, a small loss chart and what can be done with it.
class RunningCard : public Card {
  Q_OBJECT
 public:
  explicit RunningCard(RunStore* store, QWidget* parent = nullptr);
  /// nullptr empties the card.
  void showRun(const RunSummary* run);
  QPushButton* openButton() const { return m_open; }

 signals:
  void openRequested(const QString& runPath);

 private:
  void follow(const QString& runPath);
  RunStore* m_store;
  QString m_path;
  bool m_paused = false;
  Label* m_name;
  Chip* m_chip;
  Label* m_left;
  ThinBar* m_bar;
  Label* m_step;
  Label* m_figures;
  LossChart* m_chart;
  QPushButton* m_open;
  QPushButton* m_pause;
  QPushButton* m_checkpoint;
  RunWatcher* m_watcher = nullptr;
};

}  // namespace lorikeet::ui
