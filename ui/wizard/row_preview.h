// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <memory>
#include <vector>

#include "ui/widgets/token_view.h"
#include "ui/wizard/wizard_state.h"

namespace lorikeet::ui {

/// One row as the model will see it.
struct RowPreview {
  struct Turn {
    QString role, icon, text;
    bool trained = false;
  };
  std::int64_t number = 0;  ///< in the file
  std::vector<Turn> turns;
  std::vector<ShownToken> tokens;
  QString cutText;  ///< what stands on the line where the row is cut, "" when it is whole
  int trained = 0, context = 0, cut = 0;
  bool begins = false;      ///< with the begin token
  bool endTrained = false;  ///< the end token is trained
  QString problem;
};

/// Renders and tokenises one row; for pool threads.
RowPreview previewRow(const InstructionRow& row, const PreparedData& prepared, const Settings& settings);

}  // namespace lorikeet::ui
