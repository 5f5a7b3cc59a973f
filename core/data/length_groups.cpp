// SPDX-License-Identifier: Apache-2.0
#include "core/data/length_groups.h"

#include <algorithm>

namespace lorikeet {

std::vector<std::int64_t> grouped_by_length(const std::vector<TokenRow>& rows,
                                            const std::vector<std::int64_t>& order, std::int64_t batch) {
  std::vector<std::int64_t> grouped = order;
  if (grouped.empty()) return grouped;
  const auto length = [&](std::int64_t row) { return rows[static_cast<std::size_t>(row)].ids.size(); };
  const auto longer = [&](std::int64_t one, std::int64_t other) { return length(one) > length(other); };
  const auto count = std::ssize(grouped);
  const std::int64_t size = batch * std::clamp<std::int64_t>(count / (4 * batch), 1, 50);
  auto longest = grouped.begin();
  for (std::int64_t first = 0; first < count; first += size) {
    const auto begin = grouped.begin() + first;
    std::stable_sort(begin, grouped.begin() + std::min(first + size, count), longer);
    if (longer(*begin, *longest)) longest = begin;
  }
  std::iter_swap(grouped.begin(), longest);
  return grouped;
}

}  // namespace lorikeet
