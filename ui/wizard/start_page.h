// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/wizard/step_page.h"

class QLineEdit;
class QPlainTextEdit;

namespace lorikeet::ui {

class Banner;
struct Problem;

/// Step 6: the name, what is saved and where, the same as a command.
class StartPage : public StepPage {
  Q_OBJECT
 public:
  explicit StartPage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  QString obstacle() const override;
  QWidget* firstFocus() const override;
  QString runPath() const { return m_runPath; }
  QString command() const;
  void showProblem(const Problem& problem);

 private:
  void update();
  QLineEdit* m_name;
  Banner* m_banner;
  Label* m_where[4];
  Label* m_size[4];
  QPlainTextEdit* m_command;
  QString m_runPath;
};

}  // namespace lorikeet::ui
