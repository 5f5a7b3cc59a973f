// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/train/run_folder.h"

namespace lorikeet {

/// Upper median; 0 of nothing.
double median(std::vector<double> values);
/// Standard deviation of single values around a smooth course; 0 of fewer than three.
double noise_of(const std::vector<double>& values);

/// The losses of a run with what is needed to judge them. Points into the history it was made of.
struct Curve {
  std::vector<const StepEvent*> steps;  ///< those with a finite loss
  std::size_t window = 1;               ///< steps that are judged together
  std::vector<double> medians;          ///< of the windows from the first step on; a rest joins the last one
  double noise = 0;                     ///< standard deviation of one step's loss around its neighbours
  double start = 0;                     ///< before the first step: by evaluation where there is one

  double last() const { return medians.back(); }
  /// How much two windows may differ by chance (four standard deviations of a difference of medians).
  double chance() const;
  double peak_rate() const;  ///< highest learning rate
};
Curve curve_of(const RunHistory& history);

/// A straight line through the losses of the last `span` steps.
struct Trend {
  double level = 0;  ///< median loss
  double gain = 0;   ///< by how much the line falls over the span
  double doubt = 0;  ///< standard deviation of gain
};
Trend trend_of(const Curve& curve, std::int64_t span);

/// Steps whose loss jumps out of the ten before them.
std::vector<std::size_t> jumps_of(const Curve& curve);

/// What evaluations say of the time since a step: did any find something better than those before?
struct StandStill {
  int count = 0;      ///< evaluations since then
  bool still = true;  ///< true too when they are too few to say
};
StandStill evaluations_since(const RunHistory& history, std::int64_t step);

}  // namespace lorikeet
