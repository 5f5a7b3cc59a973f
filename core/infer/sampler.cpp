// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/infer/session.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "kernels/sampling.h"

namespace lorikeet {

TokenId sample_token(std::vector<float>& logits, const std::vector<TokenId>& recent, const Sampling& sampling,
                     std::uint64_t draw) {
  const auto window =
      std::min(recent.size(), static_cast<std::size_t>(std::max<std::int64_t>(0, sampling.repeat_window)));
  RandomStream::Key key;
  key.seed = sampling.seed;
  key.use = RandomUse::sampling;
  const SamplingRule rule{sampling.greedy, sampling.temperature, sampling.top_k,
                          sampling.top_p,  sampling.min_p,       sampling.repeat_penalty};
  const TokenId id = draw_token(logits, {recent.data() + (recent.size() - window), window}, rule,
                                RandomStream(key).uniform_at(draw));
  if (id < 0) {
    throw Error(ErrorCode::numeric, "The model's output is not a number", {},
                "Check the adapter, or lower its strength");
  }
  return id;
}

}  // namespace lorikeet
