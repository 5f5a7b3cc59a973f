// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include "ui/widgets/marks.h"

namespace lorikeet::ui {

struct RunSummary;

/// How the state of a run is said and shown.
struct RunWords {
  QString state;  ///< "Training"
  QString icon;
  Tone tone = Tone::neutral;
};
RunWords runWords(const RunSummary& run);

}  // namespace lorikeet::ui
