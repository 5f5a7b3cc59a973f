// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <cstdint>
#include <memory>

#include "core/train/run_folder.h"

namespace lorikeet::test {

/// A run folder with made-up events, for tests and pictures: a falling loss, evaluations, checkpoints,
/// samples.
struct MadeRun {
  QString name = QStringLiteral("Bike shop replies · run 15");
  QString model = QStringLiteral("/models/Qwen2.5-1.5B-Instruct");
  QString data = QStringLiteral("/data/bike-shop-replies.jsonl");
  std::int64_t steps = 1240, total = 2322;
  RunState state = RunState::training;
  bool samples = false;
  double tokensPerSecond = 3610;
  QString error;  ///< not empty: an error event
};

/// Writes the folder; `runs` is made when missing. Returns its path.
QString makeRun(const QString& runs, const QString& folder, const MadeRun& run);

/// Appends steps from..to and nothing else.
void appendSteps(RunFolder& folder, const MadeRun& run, std::int64_t from, std::int64_t to);

}  // namespace lorikeet::test
