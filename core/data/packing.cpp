// SPDX-License-Identifier: Apache-2.0
#include "core/data/packing.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/random.h"

namespace lorikeet {
namespace {

std::int64_t length_of(const TokenRow& row) {
  return static_cast<std::int64_t>(row.ids.size());
}

/// Rows of one packed sequence: positions in the epoch's order.
struct Bin {
  std::size_t longest = 0;  ///< the row it was opened for
  std::vector<std::size_t> positions;
};

std::vector<Bin> best_fit(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& order,
                          std::int64_t max_length) {
  std::vector<std::size_t> by_length(order.size());
  for (std::size_t i = 0; i < by_length.size(); ++i) by_length[i] = i;
  const auto length_at = [&](std::size_t position) {
    return length_of(rows[static_cast<std::size_t>(order[position])]);
  };
  std::stable_sort(by_length.begin(), by_length.end(),
                   [&](std::size_t a, std::size_t b) { return length_at(a) > length_at(b); });
  std::vector<Bin> bins;
  std::set<std::pair<std::int64_t, std::size_t>> open;  // (space left, bin): the tightest and oldest first
  for (const std::size_t position : by_length) {
    const std::int64_t length = length_at(position);
    const auto fitting = open.lower_bound({length, 0});
    std::int64_t space = max_length;
    std::size_t bin = bins.size();
    if (fitting == open.end()) {
      bins.push_back({position, {}});
    } else {
      std::tie(space, bin) = *fitting;
      open.erase(fitting);
    }
    bins[bin].positions.push_back(position);
    if (space > length) open.insert({space - length, bin});
  }
  std::sort(bins.begin(), bins.end(), [](const Bin& a, const Bin& b) { return a.longest < b.longest; });
  return bins;
}

void add_keys(std::vector<std::int32_t>& keys, const DrawPlace& place, std::int64_t index,
              std::int64_t length) {
  const RandomStream stream({.seed = place.seed,
                             .epoch = static_cast<std::uint64_t>(place.epoch),
                             .row = static_cast<std::uint64_t>(index),
                             .use = RandomUse::token});
  for (std::int64_t position = 0; position < length; ++position) {
    const std::uint64_t key = stream.key_at(static_cast<std::uint64_t>(position));
    keys.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(key)));
    keys.push_back(static_cast<std::int32_t>(static_cast<std::uint32_t>(key >> 32)));
  }
}

}  // namespace

BatchPlan plan_batches(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& order,
                       std::int64_t batch_size, std::int64_t max_length, bool packing) {
  if (batch_size < 1)
    throw Error(ErrorCode::invalid_argument, "The batch size is below 1", std::to_string(batch_size));
  for (const std::int64_t index : order) {
    if (index < 0 || index >= static_cast<std::int64_t>(rows.size())) {
      throw Error(ErrorCode::invalid_argument, "The order names a row that does not exist",
                  std::to_string(index));
    }
    const TokenRow& row = rows[static_cast<std::size_t>(index)];
    if (packing && length_of(row) > max_length) {
      throw Error(ErrorCode::invalid_argument,
                  "A row is longer than " + std::to_string(max_length) + " tokens",
                  "row " + std::to_string(row.number));
    }
  }
  std::vector<Bin> bins;
  if (packing) {
    bins = best_fit(rows, order, max_length);
  } else {
    for (std::size_t i = 0; i < order.size(); ++i) bins.push_back({i, {i}});
  }
  BatchPlan plan;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    if (i % static_cast<std::size_t>(batch_size) == 0) plan.micro_batches.emplace_back();
    std::sort(bins[i].positions.begin(), bins[i].positions.end());
    for (const std::size_t position : bins[i].positions) plan.micro_batches.back().push_back(order[position]);
  }
  return plan;
}

TokenBatch make_batch(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& indexes,
                      const DrawPlace* draws) {
  TokenBatch batch;
  std::size_t tokens = 0;
  for (const std::int64_t index : indexes) tokens += rows.at(static_cast<std::size_t>(index)).ids.size();
  if (tokens > static_cast<std::size_t>(INT32_MAX)) {
    throw Error(ErrorCode::invalid_argument, "A batch holds more tokens than can be numbered",
                std::to_string(tokens));
  }
  batch.ids.reserve(tokens);
  batch.targets.reserve(tokens);
  batch.positions.reserve(tokens);
  batch.cu_seqlens.push_back(0);
  for (const std::int64_t index : indexes) {
    const TokenRow& row = rows[static_cast<std::size_t>(index)];
    batch.ids.insert(batch.ids.end(), row.ids.begin(), row.ids.end());
    batch.targets.insert(batch.targets.end(), row.targets.begin(), row.targets.end());
    for (std::size_t i = 0; i < row.ids.size(); ++i) batch.positions.push_back(static_cast<std::int32_t>(i));
    if (draws) add_keys(batch.keys, *draws, index, length_of(row));
    batch.cu_seqlens.push_back(static_cast<std::int32_t>(batch.ids.size()));
    batch.rows.push_back(row.number);
    batch.longest = std::max(batch.longest, length_of(row));
    batch.trained_tokens += row.trained_tokens;
  }
  return batch;
}

}  // namespace lorikeet
