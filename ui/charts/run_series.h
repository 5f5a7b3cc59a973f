// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>
#include <vector>

#include "core/train/run_folder.h"

namespace lorikeet::ui {

/// What the x axis of a run's chart counts.
enum class RunAxis { step, epoch, tokens, time };
QString axisWord(RunAxis axis);

/// The steps of a run with their smoothed loss; grows step by step. Positions on an axis for steps and
/// evaluations.
class RunSeries {
 public:
  void clear();
  void append(const std::vector<StepEvent>& steps);
  /// 0 = none, below 1: share of the old value in an exponential mean without start bias.
  void setSmoothing(double smoothing);
  double smoothing() const { return m_smoothing; }

  const std::vector<StepEvent>& steps() const { return m_steps; }
  const std::vector<double>& smoothed() const { return m_smoothed; }
  double position(const StepEvent& step, RunAxis axis) const;
  /// Where a step number lies on the axis, by the nearest known step.
  double positionOf(std::int64_t step, RunAxis axis) const;
  /// Index of the step nearest to a position, -1 when there is none.
  int nearest(double position, RunAxis axis) const;
  /// Where the planned end lies on the axis.
  double end(std::int64_t totalSteps, RunAxis axis) const;

 private:
  void smoothFrom(std::size_t first);
  std::vector<StepEvent> m_steps;
  std::vector<double> m_smoothed;
  double m_smoothing = 0.9;
  double m_mean = 0, m_weight = 0;
};

}  // namespace lorikeet::ui
