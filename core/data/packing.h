// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/dataset.h"

namespace lorikeet {

/// One micro-batch: sequences laid end to end, without padding. Sequences never see each other.
struct TokenBatch {
  std::vector<TokenId> ids;              ///< [T]
  std::vector<TokenId> targets;          ///< [T], -1 = not trained
  std::vector<std::int32_t> positions;   ///< [T], restart at 0 in each sequence
  std::vector<std::int32_t> cu_seqlens;  ///< [sequences + 1]
  std::vector<std::int64_t> rows;        ///< row number in the file of each sequence
  std::int64_t longest = 0;
  std::int64_t trained_tokens = 0;
  /// [2T]: lower and upper half of a key for each token, from which dropout and noise are drawn; empty: no
  /// draws.
  std::vector<std::int32_t> keys;
};

/// Where a run stands, as far as random numbers are concerned.
struct DrawPlace {
  std::uint64_t seed = 0;
  std::int64_t epoch = 0;
};

/// How the rows of one epoch are laid into micro-batches: each inner list holds indexes into the token rows.
struct BatchPlan {
  std::vector<std::vector<std::int64_t>> micro_batches;
};
/// Every index of `order` is used exactly once. Without packing `batch_size` rows a micro-batch, in the given
/// order. With packing `batch_size` bins a micro-batch: best-fit decreasing over the whole epoch into bins of
/// `max_length` tokens (each row, longest first, goes into the bin with the smallest space that still fits
/// it, the oldest on ties; rows of equal length in the given order, so a shuffle changes who meets whom).
/// Bins then follow each other in the order of their longest row and rows inside a bin in the given order, so
/// that long and short rows stay mixed over the epoch. Pure function of its arguments. Throws
/// Error(invalid_argument) for a row longer than max_length.
BatchPlan plan_batches(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& order,
                       std::int64_t batch_size, std::int64_t max_length, bool packing);

/// Lays the rows end to end; the last target of each is -1, so no row predicts the first token of the next.
/// With `draws` every token gets a key: a pure function of (seed, epoch, index of its row, position in its
/// row), whoever shares its batch.
TokenBatch make_batch(const std::vector<TokenRow>& rows, const std::vector<std::int64_t>& indexes,
                      const DrawPlace* draws = nullptr);

}  // namespace lorikeet
