// SPDX-License-Identifier: Apache-2.0
#include "core/infer/sampler.h"

#include <algorithm>

#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "kernels/sampling.h"

namespace lorikeet {

SamplingRule rule_of(const Sampling& sampling) {
  return {sampling.greedy, sampling.temperature, sampling.top_k,
          sampling.top_p,  sampling.min_p,       sampling.repeat_penalty};
}

double uniform_of(const Sampling& sampling, std::uint64_t draw) {
  RandomStream::Key key;
  key.seed = sampling.seed;
  key.use = RandomUse::sampling;
  return RandomStream(key).uniform_at(draw);
}

std::int64_t penalised_tokens(const Sampling& sampling, std::size_t count) {
  if (sampling.repeat_penalty == 1) return 0;
  return std::min(static_cast<std::int64_t>(count), std::max<std::int64_t>(0, sampling.repeat_window));
}

TokenId checked_token(std::int32_t id) {
  if (id >= 0) return id;
  throw Error(ErrorCode::numeric, "The model's output is not a number", {},
              "Check the adapter, or lower its strength");
}

TokenId sample_token(std::vector<float>& logits, const std::vector<TokenId>& recent, const Sampling& sampling,
                     std::uint64_t draw) {
  const auto window = static_cast<std::size_t>(penalised_tokens(sampling, recent.size()));
  return checked_token(draw_token(logits, {recent.data() + (recent.size() - window), window},
                                  rule_of(sampling), uniform_of(sampling, draw)));
}

}  // namespace lorikeet
