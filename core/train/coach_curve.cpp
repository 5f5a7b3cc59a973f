// SPDX-License-Identifier: Apache-2.0
#include "core/train/coach_curve.h"

#include <algorithm>
#include <cmath>

namespace lorikeet {

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double noise_of(const std::vector<double>& values) {
  std::vector<double> turns;
  for (std::size_t i = 1; i + 1 < values.size(); ++i)
    turns.push_back(std::abs(values[i] - (values[i - 1] + values[i + 1]) / 2));
  // For independent noise of deviation s the middle differs from its neighbours' mean by s * sqrt(3/2), and
  // the median of the absolute value of a normal number is 0.6745 deviations.
  return median(std::move(turns)) / 0.6745 / std::sqrt(1.5);
}

double Curve::chance() const {
  return 4 * noise * std::sqrt(2.0 * 1.57 / static_cast<double>(window));
}

double Curve::peak_rate() const {
  double peak = 0;
  for (const auto* step : steps) peak = std::max(peak, step->learning_rate);
  return peak;
}

Curve curve_of(const RunHistory& history) {
  Curve curve;
  for (const auto& step : history.steps) {
    if (std::isfinite(step.loss) && step.trained_tokens > 0) curve.steps.push_back(&step);
  }
  const std::size_t count = curve.steps.size();
  if (count == 0) return curve;
  curve.window = std::clamp<std::size_t>(count / 12, 3, 50);
  const std::size_t windows = std::max<std::size_t>(1, count / curve.window);
  std::vector<double> all;
  for (const auto* step : curve.steps) all.push_back(step->loss);
  curve.noise = noise_of(all);
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t end = i + 1 == windows ? count : (i + 1) * curve.window;
    std::vector<double> losses;
    for (std::size_t j = i * curve.window; j < end; ++j) losses.push_back(curve.steps[j]->loss);
    curve.medians.push_back(median(std::move(losses)));
  }
  const auto& evaluations = history.evaluations;
  const bool evaluated =
      !evaluations.empty() && evaluations.front().step == 0 && std::isfinite(evaluations.front().loss);
  // Rows kept for evaluation may be easier than those trained: the first step, whose loss is of the unchanged
  // adapter too, must not be above it.
  curve.start =
      evaluated ? std::max(evaluations.front().loss, curve.steps.front()->loss) : curve.medians.front();
  return curve;
}

Trend trend_of(const Curve& curve, std::int64_t span) {
  std::vector<double> losses;
  const std::int64_t from = curve.steps.back()->step - span;
  for (auto step = curve.steps.rbegin(); step != curve.steps.rend() && (*step)->step > from; ++step)
    losses.push_back((*step)->loss);
  std::reverse(losses.begin(), losses.end());
  Trend trend;
  trend.level = median(losses);
  const auto count = static_cast<double>(losses.size());
  double slope = 0, spread = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double x = static_cast<double>(i) - (count - 1) / 2;
    // One odd batch must not bend the line.
    const double y = std::clamp(losses[i] - trend.level, -4 * curve.noise, 4 * curve.noise);
    slope += x * y;
    spread += x * x;
  }
  slope /= std::max(spread, 1.0);
  trend.gain = -slope * count;
  trend.doubt = curve.noise * count / std::sqrt(std::max(spread, 1.0));
  return trend;
}

std::vector<std::size_t> jumps_of(const Curve& curve) {
  std::vector<std::size_t> jumps;
  for (std::size_t i = 10; i < curve.steps.size(); ++i) {
    std::vector<double> before;
    for (std::size_t j = i - 10; j < i; ++j) before.push_back(curve.steps[j]->loss);
    const double level = median(before);
    // Small batches, and the steep begin of a run, spread more than the run as a whole.
    for (double& loss : before) loss = std::abs(loss - level);
    const double spread = std::max(curve.noise, 1.48 * median(std::move(before)));
    if (curve.steps[i]->loss > level + std::max({6 * spread, 0.25 * level, 0.3})) jumps.push_back(i);
  }
  return jumps;
}

StandStill evaluations_since(const RunHistory& history, std::int64_t step) {
  double before = INFINITY, since = INFINITY;
  StandStill answer;
  std::vector<double> losses;
  for (const auto& evaluation : history.evaluations) {
    if (!std::isfinite(evaluation.loss)) continue;
    double& best = evaluation.step > step ? since : before;
    best = std::min(best, evaluation.loss);
    answer.count += evaluation.step > step;
    losses.push_back(evaluation.loss);
  }
  // The first evaluations fall too fast to tell noise.
  losses.erase(losses.begin(),
               losses.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(losses.size(), 2)));
  answer.still = answer.count < 2 || before - since < std::max(0.005 * before, noise_of(losses));
  return answer;
}

}  // namespace lorikeet
