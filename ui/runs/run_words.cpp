// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/runs/run_words.h"

#include <QCoreApplication>

#include "ui/engine/run_store.h"

namespace lorikeet::ui {
namespace {

RunWords words(const char* text, const char* icon, Tone tone) {
  return {QCoreApplication::translate("RunWords", text), QString::fromLatin1(icon), tone};
}

}  // namespace

RunWords runWords(const RunSummary& run) {
  if (!run.started) {
    return run.alive ? words(QT_TRANSLATE_NOOP("RunWords", "Starting"), "refresh", Tone::accent)
                     : words(QT_TRANSLATE_NOOP("RunWords", "Not started"), "clock", Tone::neutral);
  }
  if (run.killed) {
    return run.state == RunState::paused
               ? words(QT_TRANSLATE_NOOP("RunWords", "Paused, closed"), "pause", Tone::warning)
               : words(QT_TRANSLATE_NOOP("RunWords", "Ended early"), "warning", Tone::warning);
  }
  switch (run.state) {
    case RunState::loading:
      return words(QT_TRANSLATE_NOOP("RunWords", "Loading"), "refresh", Tone::accent);
    case RunState::training:
      return words(QT_TRANSLATE_NOOP("RunWords", "Training"), "run", Tone::accent);
    case RunState::evaluating:
      return words(QT_TRANSLATE_NOOP("RunWords", "Evaluating"), "run", Tone::accent);
    case RunState::pausing:
      return words(QT_TRANSLATE_NOOP("RunWords", "Pausing"), "pause", Tone::accent);
    case RunState::paused:
      return words(QT_TRANSLATE_NOOP("RunWords", "Paused"), "pause", Tone::warning);
    case RunState::waiting:
      return words(QT_TRANSLATE_NOOP("RunWords", "Waits for you"), "warning", Tone::danger);
    case RunState::stopping:
      return words(QT_TRANSLATE_NOOP("RunWords", "Stopping"), "stop", Tone::accent);
    case RunState::done:
      return run.totalSteps > 0 && run.step < run.totalSteps
                 ? words(QT_TRANSLATE_NOOP("RunWords", "Stopped, kept"), "stop", Tone::neutral)
                 : words(QT_TRANSLATE_NOOP("RunWords", "Done"), "success", Tone::success);
    case RunState::failed:
      return words(QT_TRANSLATE_NOOP("RunWords", "Failed"), "error", Tone::danger);
  }
  return {};
}

}  // namespace lorikeet::ui
