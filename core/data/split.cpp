// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/data/dataset.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

std::vector<std::int64_t> ascending(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(std::max<std::int64_t>(count, 0)));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return order;
}

/// Fisher and Yates' shuffle of the first `places` places.
void shuffle_front(std::vector<std::int64_t>& order, std::size_t places, RandomStream stream) {
  for (std::size_t i = 0; i < places && i + 1 < order.size(); ++i) {
    std::swap(order[i], order[i + static_cast<std::size_t>(stream.next_below(order.size() - i))]);
  }
}

}  // namespace

Split split_rows(std::int64_t rows, double evaluation_fraction, std::uint64_t seed) {
  if (!(evaluation_fraction >= 0 && evaluation_fraction < 1)) {
    throw Error(ErrorCode::invalid_argument, "The part of rows for evaluation is outside 0 to below 1",
                std::to_string(evaluation_fraction));
  }
  Split split;
  split.train = ascending(rows);
  if (evaluation_fraction == 0 || rows < 2) return split;
  const auto wanted =
      static_cast<std::int64_t>(std::llround(static_cast<double>(rows) * evaluation_fraction));
  const std::int64_t count = std::clamp<std::int64_t>(wanted, 1, rows - 1);
  shuffle_front(split.train, static_cast<std::size_t>(count),
                RandomStream({.seed = seed, .use = RandomUse::split}));
  split.evaluation.assign(split.train.begin(), split.train.begin() + count);
  split.train.erase(split.train.begin(), split.train.begin() + count);
  std::sort(split.evaluation.begin(), split.evaluation.end());
  std::sort(split.train.begin(), split.train.end());
  return split;
}

std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle) {
  std::vector<std::int64_t> order = ascending(count);
  if (shuffle) {
    shuffle_front(
        order, order.size(),
        RandomStream({.seed = seed, .epoch = static_cast<std::uint64_t>(epoch), .use = RandomUse::shuffle}));
  }
  return order;
}

}  // namespace lorikeet
