// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/infer/session.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

struct Candidate {
  TokenId id;
  float logit;
};

/// Each token of the window is made less likely once, however often it stands there (Keskar et al. 2019).
void apply_penalty(std::vector<float>& logits, const std::vector<TokenId>& recent, const Sampling& sampling) {
  if (sampling.repeat_penalty == 1.0) return;
  const auto window =
      std::min(recent.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, sampling.repeat_window)));
  const std::unordered_set<TokenId> seen(recent.end() - static_cast<std::ptrdiff_t>(window), recent.end());
  const auto penalty = static_cast<float>(sampling.repeat_penalty);
  for (const TokenId id : seen) {
    if (id < 0 || static_cast<std::size_t>(id) >= logits.size()) continue;
    float& logit = logits[static_cast<std::size_t>(id)];
    logit = logit > 0 ? logit / penalty : logit * penalty;
  }
}

bool more_likely(const Candidate& one, const Candidate& other) {
  return one.logit != other.logit ? one.logit > other.logit : one.id < other.id;
}

/// Number of leading candidates that top-p and min-p leave; at least one. Weights are relative to the first.
std::size_t surviving(const std::vector<double>& weights, double total, const Sampling& sampling) {
  std::size_t count = weights.size();
  if (sampling.top_p < 1.0) {
    double sum = 0;
    for (count = 0; count < weights.size() && sum < sampling.top_p * total; ++count) sum += weights[count];
  }
  if (sampling.min_p > 0.0) {
    std::size_t likely = 0;
    while (likely < count && weights[likely] >= sampling.min_p * weights[0]) ++likely;
    count = likely;
  }
  return std::max<std::size_t>(1, count);
}

}  // namespace

TokenId sample_token(std::vector<float>& logits, const std::vector<TokenId>& recent, const Sampling& sampling,
                     std::uint64_t draw) {
  apply_penalty(logits, recent, sampling);
  const auto largest = std::max_element(logits.begin(), logits.end());
  if (largest == logits.end() || !std::isfinite(*largest)) {
    throw Error(ErrorCode::numeric, "The model's output is not a number", {},
                "Check the adapter, or lower its strength");
  }
  if (sampling.greedy || sampling.temperature <= 0) return static_cast<TokenId>(largest - logits.begin());

  std::vector<Candidate> candidates(logits.size());
  for (std::size_t i = 0; i < logits.size(); ++i) candidates[i] = {static_cast<TokenId>(i), logits[i]};
  if (sampling.top_k > 0 && static_cast<std::size_t>(sampling.top_k) < candidates.size()) {
    std::nth_element(candidates.begin(), candidates.begin() + sampling.top_k, candidates.end(), more_likely);
    candidates.resize(static_cast<std::size_t>(sampling.top_k));
  }
  std::sort(candidates.begin(), candidates.end(), more_likely);
  std::vector<double> weights;
  weights.reserve(candidates.size());
  double total = 0;
  for (const auto& candidate : candidates) {
    weights.push_back(
        std::exp((static_cast<double>(candidate.logit) - candidates[0].logit) / sampling.temperature));
    total += weights.back();
  }
  const std::size_t count = surviving(weights, total, sampling);
  double kept = 0;
  for (std::size_t i = 0; i < count; ++i) kept += weights[i];
  RandomStream::Key key;
  key.seed = sampling.seed;
  key.use = RandomUse::sampling;
  double left = RandomStream(key).uniform_at(draw) * kept;
  for (std::size_t i = 0; i < count; ++i) {
    left -= weights[i];
    if (left < 0) return candidates[i].id;
  }
  return candidates[count - 1].id;
}

}  // namespace lorikeet
