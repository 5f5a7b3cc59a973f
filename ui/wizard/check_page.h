// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include "ui/widgets/marks.h"
#include "ui/wizard/step_page.h"
#include "ui/wizard/wizard_state.h"

class QVBoxLayout;

namespace lorikeet::ui {

class Banner;
struct MachineInfo;

/// One light of the check: what was tested, what came out, and where to change it.
struct CheckItem {
  LightState state = LightState::good;
  QString name, sentence, value;
  QString fix;       ///< text of the quiet button, "" = none
  int fixStep = -1;  ///< the step it leads to
};

/// Step 5: what would stop the run or make it useless, before anything is started. Stops first, then Look,
/// then Good.
class CheckPage : public StepPage {
  Q_OBJECT
 public:
  explicit CheckPage(WizardModel* model, QWidget* parent = nullptr);
  void enter() override;
  QString obstacle() const override;
  StepMark mark() const override;
  QPushButton* primaryButton() const override;
  QWidget* firstFocus() const override { return primaryButton(); }
  const std::vector<CheckItem>& items() const { return m_items; }
  Banner* banner() const { return m_banner; }

 private:
  void update();
  void showItems();
  void showFit();
  std::vector<CheckItem> m_items;
  Banner* m_banner;
  QVBoxLayout* m_list;
  QWidget* m_rows = nullptr;
  QPushButton* m_makeFit = nullptr;
};

/// All checks of a state; plain arithmetic on what is already known.
std::vector<CheckItem> runChecks(const WizardState& state, std::uint64_t memoryLimit,
                                 const MachineInfo& machine);

/// Settings that need less memory with the same rows a step, as far as that goes: fewer rows at once and more
/// collected, then shorter rows, then a lower rank. Nothing when even that does not fit.
std::optional<Settings> settingsThatFit(const WizardModel& model);

}  // namespace lorikeet::ui
