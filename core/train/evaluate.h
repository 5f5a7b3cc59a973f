// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/data/dataset.h"
#include "core/model/transformer.h"

namespace lorikeet {

/// What an evaluation gave, over all trained tokens of all rows at once (never a mean of means).
struct Evaluation {
  double loss = 0;        ///< mean of -log p
  double perplexity = 0;  ///< exp(loss)
  double accuracy = 0;    ///< share of trained tokens that are the model's first choice
  std::int64_t tokens = 0;
};

/// Evaluates rows in groups of at most `max_tokens` tokens (the Transformer's largest batch), so memory does
/// not grow with their number. `between` is called between layers and may throw Error(cancelled).
Evaluation evaluate_rows(Transformer& transformer, const std::vector<TokenRow>& rows, std::int64_t max_tokens,
                         const std::function<void()>& between = {});

/// The same where memory may be short: groups are halved, down to single rows, until one pass goes through.
/// `max_tokens` is then what went through. Throws what evaluate_rows throws for single rows.
Evaluation evaluate_fitting(Transformer& transformer, const std::vector<TokenRow>& rows,
                            std::int64_t& max_tokens, const std::function<void()>& between = {});

}  // namespace lorikeet
