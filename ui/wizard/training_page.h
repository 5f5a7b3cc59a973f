// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/wizard/step_page.h"

class QLineEdit;

namespace lorikeet::ui {

class Card;
class SettingsForm;

/// Step 4: how long it learns and how it is watched.
class TrainingPage : public StepPage {
  Q_OBJECT
 public:
  explicit TrainingPage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  void setAdvanced(bool advanced) override;
  QString obstacle() const override;
  QWidget* firstFocus() const override;
  SettingsForm* learning() const { return m_learning; }
  QLineEdit* promptField() const { return m_newPrompt; }

 private:
  Card* makePrompts();
  void showPrompts();
  void setPrompts(const std::vector<std::string>& prompts);
  SettingsForm* m_learning;
  SettingsForm* m_watching;
  SettingsForm* m_more;
  Card* m_moreCard;
  QVBoxLayout* m_promptList;
  QWidget* m_promptRows = nullptr;
  QLineEdit* m_newPrompt;
};

}  // namespace lorikeet::ui
