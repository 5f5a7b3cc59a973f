// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include "ui/widgets/controls.h"

namespace lorikeet::ui {

class Banner;
class MemoryBar;
class WizardModel;

/// What is chosen now and what it costs, beside every step: base, data, method, memory by kind, steps,
/// verdict.
class RunCard : public Card {
  Q_OBJECT
 public:
  explicit RunCard(WizardModel* model, QWidget* parent = nullptr);
  void setCompact(bool compact);
  QString verdict() const;

 private:
  struct Choice {
    Label* name = nullptr;
    Label* detail = nullptr;
  };
  Choice addChoice(const QString& iconName, const QString& caption);
  void addFigures();
  void update();
  void updateMemory();
  void updateVerdict();
  WizardModel* m_model;
  Choice m_base, m_data, m_method;
  Label* m_memory;
  MemoryBar* m_bar;
  QWidget* m_legend;
  std::array<Label*, 5> m_parts{};
  std::array<Label*, 4> m_figures{};
  QFrame* m_verdict;
  IconLabel* m_verdictIcon;
  Label* m_verdictText;
};

}  // namespace lorikeet::ui
