// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include "ui/widgets/choice.h"

class QHBoxLayout;
class QVBoxLayout;

namespace lorikeet::ui {

class Label;
class WizardModel;

/// One step of the wizard: title and sentence on one line, its content under it.
class StepPage : public QWidget {
  Q_OBJECT
 public:
  StepPage(WizardModel* model, const QString& title, const QString& sentence, QWidget* parent = nullptr);
  virtual void enter() {}  ///< the step came to the front
  virtual void setAdvanced(bool) {}
  /// Why the next step cannot be reached; empty when it can.
  virtual QString obstacle() const { return {}; }
  /// How the stepper marks a visited step.
  virtual StepMark mark() const { return obstacle().isEmpty() ? StepMark::done : StepMark::look; }
  virtual QWidget* firstFocus() const { return nullptr; }
  virtual QPushButton* primaryButton() const { return nullptr; }  ///< instead of Next
  const QString& title() const { return m_titleText; }
  void setSentence(const QString& sentence);

 signals:
  void stateChanged();         ///< obstacle or mark may have changed
  void stepWanted(int index);  ///< a button leads to another step

 protected:
  WizardModel* model() const { return m_model; }
  QVBoxLayout* body() const { return m_body; }
  QHBoxLayout* titleRow() const { return m_titleRow; }
  void resizeEvent(QResizeEvent* event) override;

 private:
  WizardModel* m_model;
  QString m_titleText;
  Label* m_sentence;
  QHBoxLayout* m_titleRow;
  QVBoxLayout* m_body;
};

}  // namespace lorikeet::ui
