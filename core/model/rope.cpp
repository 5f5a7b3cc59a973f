// SPDX-License-Identifier: Apache-2.0
#include "core/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

namespace lorikeet {
namespace {

/// llama3: long waves are stretched, short ones stay, those between are mixed.
double llama3_frequency(const RopeSpec& rope, double frequency) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  const auto original = static_cast<double>(rope.original_context);
  if (wavelength > original / rope.low_freq_factor) return frequency / rope.factor;
  if (wavelength < original / rope.high_freq_factor) return frequency;
  const double smooth =
      (original / wavelength - rope.low_freq_factor) / (rope.high_freq_factor - rope.low_freq_factor);
  return (1.0 - smooth) * frequency / rope.factor + smooth * frequency;
}

/// yarn: pairs below `low` keep their frequency, those above `high` are stretched, a straight line between.
struct YarnBounds {
  explicit YarnBounds(const RopeSpec& rope) {
    const auto dimensions = static_cast<double>(rope.rotary_dim);
    const auto pair_of = [&](double turns) {
      return dimensions *
             std::log(static_cast<double>(rope.original_context) / (turns * 2 * std::numbers::pi)) /
             (2 * std::log(rope.theta));
    };
    low = pair_of(rope.beta_fast);
    high = pair_of(rope.beta_slow);
    if (rope.truncate) {
      low = std::floor(low);
      high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, dimensions - 1);
    if (low == high) high += 0.001;
  }
  double stretched_share(std::size_t pair) const {
    return std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  }
  double low = 0, high = 0;
};

double base_of(const RopeSpec& rope, std::int64_t positions) {
  if (rope.kind != RopeSpec::Kind::dynamic) return rope.theta;
  const auto original = static_cast<double>(rope.original_context);
  const double reach = std::max(static_cast<double>(positions), original);
  const auto dimensions = static_cast<double>(rope.rotary_dim);
  return rope.theta *
         std::pow(rope.factor * reach / original - (rope.factor - 1), dimensions / (dimensions - 2));
}

}  // namespace

std::vector<float> rope_inverse_frequencies(const RopeSpec& rope, std::int64_t positions,
                                            double linear_factor) {
  using Kind = RopeSpec::Kind;
  std::vector<float> frequencies(static_cast<std::size_t>(rope.rotary_dim / 2));
  const double base = base_of(rope, positions);
  const std::vector<float>& longrope =
      positions > rope.original_context ? rope.long_factors : rope.short_factors;
  std::optional<YarnBounds> yarn;
  if (rope.kind == Kind::yarn) yarn.emplace(rope);
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    const double exponent = 2.0 * static_cast<double>(i) / static_cast<double>(rope.rotary_dim);
    double frequency = static_cast<float>(1.0 / std::pow(base, exponent));
    if (rope.kind == Kind::linear) frequency /= rope.factor;
    if (rope.kind == Kind::llama3) frequency = llama3_frequency(rope, frequency);
    if (rope.kind == Kind::longrope) frequency /= static_cast<double>(longrope[i]);
    if (yarn) {
      const double stretched = yarn->stretched_share(i);
      frequency = frequency * (1 - stretched) + frequency / rope.factor * stretched;
    }
    if (!rope.divisors.empty()) frequency /= static_cast<double>(rope.divisors[i]);
    frequencies[i] = static_cast<float>(frequency / linear_factor);
  }
  return frequencies;
}

double yarn_attention_factor(double factor) {
  return factor <= 1 ? 1 : 0.1 * std::log(factor) + 1;
}

double longrope_attention_factor(double stretch, std::int64_t original_context) {
  if (stretch <= 1 || original_context <= 1) return 1;
  return std::sqrt(1 + std::log(stretch) / std::log(static_cast<double>(original_context)));
}

}  // namespace lorikeet
