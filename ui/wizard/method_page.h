// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include "ui/wizard/step_page.h"
#include "ui/wizard/wizard_state.h"

class QStackedWidget;

namespace lorikeet::ui {

class Card;
class PresetCard;
class SettingsForm;

/// Step 3: how much of the model may change, by preset or by hand.
class MethodPage : public StepPage {
  Q_OBJECT
 public:
  explicit MethodPage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  void setAdvanced(bool advanced) override;
  QString obstacle() const override;
  QWidget* firstFocus() const override;
  SettingsForm* form() const { return m_form; }

 signals:
  void advancedWanted();

 private:
  QWidget* makeSimple();
  QWidget* makeAdvanced();
  void update();
  void updateSummary();
  std::array<PresetCard*, 3> m_cards{};
  Label* m_summaryTitle;
  std::array<std::array<Label*, 3>, 5> m_summary{};
  QStackedWidget* m_stack;
  Segments* m_presets;
  Label* m_cost;
  SettingsForm* m_form;
  QWidget* m_simple;
};

}  // namespace lorikeet::ui
