// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/engine/studio_context.h"
#include "ui/widgets/page.h"

class QHBoxLayout;
class QScrollArea;
class QStackedWidget;

namespace lorikeet::ui {

class BasePage;
class DataPage;
class RunCard;
class Segments;
class StartPage;
class StepPage;
class Stepper;
class WizardModel;

/// The Train wizard: stepper on top, one step, the run card beside it, Back and Next below.
class WizardPage : public Page {
  Q_OBJECT
 public:
  explicit WizardPage(const StudioContext& context, QWidget* parent = nullptr);

  void shown() override;
  QPushButton* primaryButton() const override;
  QWidget* searchField() const override;
  QWidget* firstFocus() const override;

  void goTo(int step);
  int step() const;
  void back();
  void next();
  /// Starts over with an empty form when a run was started from it; else goes on where it was left.
  void begin();
  void beginWithAdapter(const QString& id);
  WizardModel* model() const { return m_model; }
  StepPage* stepPage(int step) const { return m_steps[static_cast<std::size_t>(step)]; }
  RunCard* runCard() const { return m_card; }
  static constexpr int kSteps = 6;

 signals:
  void runStarted(const QString& runPath);
  void chatWithModelWanted(const QString& modelPath);

 protected:
  void resizeEvent(QResizeEvent* event) override;

 private:
  void addStep(StepPage* page);
  QWidget* makeTop();
  QWidget* makeFooter();
  void updateFooter();
  void updateMarks();
  void start();
  StudioContext m_context;
  WizardModel* m_model;
  BasePage* m_base;
  DataPage* m_data;
  StartPage* m_start;
  std::vector<StepPage*> m_steps;
  Stepper* m_stepper;
  Segments* m_level;
  QStackedWidget* m_stack;
  RunCard* m_card;
  QHBoxLayout* m_body;
  QPushButton* m_back;
  QPushButton* m_next;
  Label* m_note;
  bool m_starting = false;
};

}  // namespace lorikeet::ui
