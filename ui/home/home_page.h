// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

namespace lorikeet::ui {

class Banner;
struct Problem;
class Card;
class RunningCard;
class RunsModel;
class Table;

/// This machine, the run that lives, the last runs and the next step; at first start the way to a first run.
class HomePage : public Page {
  Q_OBJECT
 public:
  explicit HomePage(const StudioContext& context, QWidget* parent = nullptr);
  QPushButton* primaryButton() const override;
  QWidget* firstFocus() const override;
  void showProblem(const Problem& problem);

 signals:
  void newRunRequested();
  void sampleRequested();
  void goOnRequested();
  void chatRequested();
  void exportRequested();
  void compareRequested(const QString& adapterId);
  void runRequested(const QString& runPath);
  void allRunsRequested();

 private:
  QWidget* makeLeft();
  QWidget* makeRight();
  Card* makeWelcome();
  Card* makeLastRuns();
  void update();
  void updateNextStep();

  StudioContext m_context;
  PageHead* m_head;
  QPushButton* m_newRun;
  Card* m_welcome;
  QPushButton* m_sample;
  RunningCard* m_running;
  Banner* m_problem;
  Banner* m_next;
  Card* m_lastRuns;
  Table* m_table;
  QWidget* m_noRuns;
  RunsModel* m_model;
  QString m_nextAdapter;
};

}  // namespace lorikeet::ui
