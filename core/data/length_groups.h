// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/dataset.h"

namespace lorikeet {

/// An order in which rows of similar length follow each other, as transformers' group_by_length makes it:
/// `order` (shuffled) is cut into mega-batches of batch * min(n / (4 batch), 50) rows, each is sorted by
/// length, longest first (rows of equal length stay in order), and the longest row of all is swapped to the
/// front, so that a batch that does not fit fails in the first step. A permutation of `order`; a pure
/// function. `batch` >= 1: rows of one optimiser step.
std::vector<std::int64_t> grouped_by_length(const std::vector<TokenRow>& rows,
                                            const std::vector<std::int64_t>& order, std::int64_t batch);

}  // namespace lorikeet
