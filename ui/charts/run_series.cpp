// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/charts/run_series.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace lorikeet::ui {

QString axisWord(RunAxis axis) {
  switch (axis) {
    case RunAxis::step:
      return QCoreApplication::translate("RunSeries", "Step");
    case RunAxis::epoch:
      return QCoreApplication::translate("RunSeries", "Epoch");
    case RunAxis::tokens:
      return QCoreApplication::translate("RunSeries", "Tokens");
    case RunAxis::time:
      return QCoreApplication::translate("RunSeries", "Minutes");
  }
  return {};
}

void RunSeries::clear() {
  m_steps.clear();
  m_smoothed.clear();
  m_mean = m_weight = 0;
}

void RunSeries::append(const std::vector<StepEvent>& steps) {
  const std::size_t first = m_steps.size();
  m_steps.insert(m_steps.end(), steps.begin(), steps.end());
  smoothFrom(first);
}

void RunSeries::setSmoothing(double smoothing) {
  m_smoothing = std::clamp(smoothing, 0.0, 0.995);
  m_smoothed.clear();
  m_mean = m_weight = 0;
  smoothFrom(0);
}

void RunSeries::smoothFrom(std::size_t first) {
  for (std::size_t i = first; i < m_steps.size(); ++i) {
    const double loss = m_steps[i].loss;
    if (std::isfinite(loss)) {
      m_mean = m_smoothing * m_mean + (1 - m_smoothing) * loss;
      m_weight = m_smoothing * m_weight + (1 - m_smoothing);
    }
    m_smoothed.push_back(m_weight > 0 ? m_mean / m_weight : loss);
  }
}

double RunSeries::position(const StepEvent& step, RunAxis axis) const {
  switch (axis) {
    case RunAxis::step:
      return static_cast<double>(step.step);
    case RunAxis::epoch:
      return step.epoch;
    case RunAxis::tokens:
      return static_cast<double>(step.tokens);
    case RunAxis::time:
      return step.elapsed_seconds / 60;
  }
  return 0;
}

double RunSeries::positionOf(std::int64_t step, RunAxis axis) const {
  if (axis == RunAxis::step) return static_cast<double>(step);
  const auto found =
      std::lower_bound(m_steps.begin(), m_steps.end(), step,
                       [](const StepEvent& event, std::int64_t wanted) { return event.step < wanted; });
  if (found != m_steps.end()) return position(*found, axis);
  return m_steps.empty() ? 0 : position(m_steps.back(), axis);
}

int RunSeries::nearest(double where, RunAxis axis) const {
  if (m_steps.empty()) return -1;
  const auto after =
      std::lower_bound(m_steps.begin(), m_steps.end(), where,
                       [&](const StepEvent& event, double wanted) { return position(event, axis) < wanted; });
  if (after == m_steps.begin()) return 0;
  const auto before = after - 1;
  const bool takeBefore =
      after == m_steps.end() || where - position(*before, axis) < position(*after, axis) - where;
  return static_cast<int>((takeBefore ? before : after) - m_steps.begin());
}

double RunSeries::end(std::int64_t totalSteps, RunAxis axis) const {
  if (m_steps.empty())
    return axis == RunAxis::step ? static_cast<double>(std::max<std::int64_t>(totalSteps, 1)) : 1;
  const StepEvent& last = m_steps.back();
  const double share =
      last.step > 0 ? static_cast<double>(std::max(totalSteps, last.step)) / static_cast<double>(last.step)
                    : 1;
  return axis == RunAxis::step ? static_cast<double>(std::max(totalSteps, last.step))
                               : position(last, axis) * share;
}

}  // namespace lorikeet::ui
