// SPDX-License-Identifier: Apache-2.0
// Penalty (Keskar et al. 2019), temperature, top-k, top-p (Holtzman et al. 2020), min-p, in the order of
// Hugging Face.
#include "kernels/sampling.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <vector>

#include "kernels/backend.h"

namespace lorikeet {
namespace {

struct Candidate {
  std::int32_t id;
  float logit;
};

void apply_penalty(std::span<float> logits, std::span<const std::int32_t> recent, double repeat_penalty) {
  if (repeat_penalty == 1.0) return;
  const std::unordered_set<std::int32_t> seen(recent.begin(), recent.end());
  const auto penalty = static_cast<float>(repeat_penalty);
  for (const std::int32_t id : seen) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

/// A logit that is no number ranks with the least likely.
float rank_of(float logit) {
  return std::isnan(logit) ? -std::numeric_limits<float>::infinity() : logit;
}

bool more_likely(const Candidate& one, const Candidate& other) {
  const float left = rank_of(one.logit), right = rank_of(other.logit);
  return left != right ? left > right : one.id < other.id;
}

/// sums[n] = the sum of the first n weights, in the order of sampling_group.
std::vector<double> sums_of(const std::vector<double>& weights) {
  std::vector<double> sums(weights.size() + 1);
  double before = 0, sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (i % static_cast<std::size_t>(sampling_group) == 0) {
      before = sums[i];
      sum = 0;
    }
    sum += weights[i];
    sums[i + 1] = before + sum;
  }
  return sums;
}

/// Number of leading candidates that top-p and min-p leave; at least one. Weights are relative to the first.
std::size_t surviving(const std::vector<double>& weights, const std::vector<double>& sums,
                      const SamplingRule& rule) {
  std::size_t count = weights.size();
  if (rule.top_p < 1.0) {
    const auto reached = std::lower_bound(sums.begin(), sums.end(), rule.top_p * sums.back());
    count = static_cast<std::size_t>(reached - sums.begin());
  }
  if (rule.min_p > 0.0) {
    std::size_t likely = 0;
    while (likely < count && weights[likely] >= rule.min_p * weights[0]) ++likely;
    count = likely;
  }
  return std::max<std::size_t>(1, count);
}

}  // namespace

double sampling_weight(double x) {
  constexpr WeightNumbers numbers;
  if (!(x > numbers.lowest)) return 0;
  const double n = std::nearbyint(x * numbers.log2_e);
  const double r = (x - n * numbers.ln2_high) - n * numbers.ln2_low;
  double value = numbers.factors[13];
  for (int i = 12; i >= 0; --i) value = value * r + numbers.factors[i];
  const auto power = static_cast<std::int64_t>(n);
  const auto two_to = [](std::int64_t k) { return std::bit_cast<double>((k + 1023) << 52); };
  return power > -1000 ? value * two_to(power) : value * two_to(power + 600) * two_to(-600);
}

std::int32_t draw_token(std::span<float> logits, std::span<const std::int32_t> recent,
                        const SamplingRule& rule, double uniform) {
  apply_penalty(logits, recent, rule.repeat_penalty);
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (largest == logits.end() || !std::isfinite(*largest)) return -1;
  if (rule.greedy || rule.temperature <= 0) return static_cast<std::int32_t>(largest - logits.begin());

  std::vector<Candidate> candidates(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<std::int32_t>(i), logits[i]};
  if (rule.top_k > 0 && static_cast<std::size_t>(rule.top_k) < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + rule.top_k, candidates.end(), more_likely);
    candidates.resize(static_cast<std::size_t>(rule.top_k));
  }
  std::sort(candidates.begin(), candidates.end(), more_likely);
  std::vector<double> weights;
  weights.reserve(candidates.size());
  for (const auto& candidate : candidates) {
    weights.push_back(
        sampling_weight((static_cast<double>(candidate.logit) - candidates[0].logit) / rule.temperature));
  }
  const std::vector<double> sums = sums_of(weights);
  const double total = sums[surviving(weights, sums, rule)], target = total * uniform;
  // Rounding may bring the target up to the total: then the candidate with which that is reached.
  const auto drawn = target < total ? std::upper_bound(sums.begin(), sums.end(), target)
                                    : std::lower_bound(sums.begin(), sums.end(), total);
  return candidates[static_cast<std::size_t>(std::max<std::ptrdiff_t>(1, drawn - sums.begin())) - 1].id;
}

}  // namespace lorikeet
