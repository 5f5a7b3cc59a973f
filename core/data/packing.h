// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/dataset.h"

namespace lorikeet {

/// One micro-batch: sequences laid end to end, without padding. Sequences never see each other.
struct TokenBatch {
  std::vector<TokenId> ids;               ///< [T]
  std::vector<TokenId> targets;           ///< [T], -1 = not trained
  std::vector<std::int32_t> positions;    ///< [T], restart at 0 in each sequence
  std::vector<std::int32_t> cu_seqlens;   ///< [sequences + 1]
  std::vector<std::int64_t> rows;         ///< row number in the file of each sequence
  std::int64_t longest = 0;
  std::int64_t trained_tokens = 0;
};

/// How the rows of one epoch are laid into micro-batches: each inner list holds indexes into the token rows.
/// Packing: best fit into bins of `max_length` tokens (formats.md §4.3, no token lost), `batch_size` bins a
/// micro-batch; without packing `batch_size` rows a micro-batch. Pure function of its arguments.
struct BatchPlan {
  std::vector<std::vector<std::int64_t>> micro_batches;
};
BatchPlan plan_batches(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& order,
                       std::int64_t batch_size, std::int64_t max_length, bool packing);

TokenBatch make_batch(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& indexes);

}  // namespace lorikeet
