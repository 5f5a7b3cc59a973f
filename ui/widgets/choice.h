// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QAbstractButton>
#include <QButtonGroup>
#include <QFrame>
#include <QStringList>
#include <vector>

namespace lorikeet::ui {

/// Two to five choices side by side, one chosen; arrow keys walk.
class Segments : public QWidget {
  Q_OBJECT
 public:
  explicit Segments(const QStringList& words, QWidget* parent = nullptr);
  int current() const { return m_group->checkedId(); }
  void setCurrent(int index);
  void setChoiceEnabled(int index, bool enabled, const QString& reason = {});

 signals:
  void chosen(int index);  ///< by the person, not by setCurrent

 private:
  QButtonGroup* m_group;
};

/// State of one step of the wizard as the stepper shows it.
enum class StepMark { open, done, look };

/// The row of steps on top of the wizard; visited steps are links.
class Stepper : public QFrame {
  Q_OBJECT
 public:
  explicit Stepper(const QStringList& names, QWidget* parent = nullptr);
  void setCurrent(int index);
  void setMark(int index, StepMark mark);
  void setReachable(int index, bool reachable);
  int current() const { return m_current; }
  StepMark mark(int index) const;

 signals:
  void stepChosen(int index);

 private:
  class Step;
  std::vector<Step*> m_steps;
  int m_current = 0;
};

}  // namespace lorikeet::ui
