// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/data/dataset.h"

namespace lorikeet {

/// How a step is computed in the memory there is. It decides nothing about what is learnt: the rows of a step
/// and their order stay, and so does its loss but for rounding.
struct StepShape {
  std::int64_t micro_batch_tokens = 0;  ///< largest micro-batch; longer ones are cut between rows
  std::int64_t recomputed_layers = 0;   ///< layers whose activations are not kept
  friend bool operator==(const StepShape&, const StepShape&) = default;
};

/// A step shape that was taken in the middle of a run because memory was refused. Kept in job.json, since a
/// resumed run is the same bit for bit only when it changes at the same step.
struct StepShapeChange {
  std::int64_t from_step = 0;  ///< the first step computed so
  StepShape shape;
  friend bool operator==(const StepShapeChange&, const StepShapeChange&) = default;
};

/// Cuts micro-batches (lists of row indexes) between rows into parts of at most `tokens` tokens, in order. A
/// row longer than that is a part of its own.
std::vector<std::vector<std::int64_t>> cut_micro_batches(
    const std::vector<TokenRow>& rows, const std::vector<std::vector<std::int64_t>>& batches,
    std::int64_t tokens);

/// The next shape to try when memory was refused: half the tokens, down to the longest row; then half of the
/// layers that are still kept are recomputed as well, down to none. Nothing when there is no smaller one.
std::optional<StepShape> smaller_step(const StepShape& shape, std::int64_t longest_row, std::int64_t layers);

/// The shape of a step (1-based) under these changes, and of an evaluation that follows it.
StepShape shape_of_step(const StepShape& planned, const std::vector<StepShapeChange>& changes,
                        std::int64_t step);

}  // namespace lorikeet
