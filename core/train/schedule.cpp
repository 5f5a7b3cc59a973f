// SPDX-License-Identifier: Apache-2.0
#include "core/train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace lorikeet {

double Schedule::rate_at(std::int64_t step) const {
  if (kind == "constant" && warmup_steps == 0) return base_rate;
  const auto t = static_cast<double>(step);
  const auto warmup = static_cast<double>(warmup_steps);
  if (step < warmup_steps) return base_rate * t / std::max(1.0, warmup);
  if (kind == "constant") return base_rate;
  if (kind == "inverse-sqrt") {
    const double timescale = warmup_steps > 0 ? warmup : 10000.0;
    return base_rate / std::sqrt((t + timescale - warmup) / timescale);
  }
  const double rest = std::max(1.0, static_cast<double>(steps) - warmup);
  if (kind == "linear") return base_rate * std::max(0.0, (static_cast<double>(steps) - t) / rest);
  const double progress = (t - warmup) / rest;
  const double cosine = std::max(0.0, 0.5 * (1.0 + std::cos(std::numbers::pi * progress)));
  if (kind == "cosine-min") return base_rate * (cosine * (1.0 - min_rate) + min_rate);
  return base_rate * cosine;
}

}  // namespace lorikeet
