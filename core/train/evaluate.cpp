// SPDX-License-Identifier: Apache-2.0
#include "core/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/data/packing.h"

namespace lorikeet {

Evaluation evaluate_rows(Transformer& transformer, const std::vector<TokenRow>& rows, std::int64_t max_tokens,
                         const std::function<void()>& between) {
  BatchLoss total;
  std::vector<std::int64_t> group;
  std::int64_t group_tokens = 0;
  const auto run_group = [&] {
    const BatchLoss loss = transformer.evaluate(make_batch(rows, group), between);
    total.loss_sum += loss.loss_sum;
    total.correct += loss.correct;
    total.trained_tokens += loss.trained_tokens;
    group.clear();
    group_tokens = 0;
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto length = static_cast<std::int64_t>(rows[i].ids.size());
    if (!group.empty() && group_tokens + length > max_tokens) run_group();
    group.push_back(static_cast<std::int64_t>(i));
    group_tokens += length;
  }
  if (!group.empty()) run_group();
  Evaluation result;
  result.tokens = total.trained_tokens;
  const auto count = static_cast<double>(std::max<std::int64_t>(1, total.trained_tokens));
  result.loss = total.loss_sum / count;
  result.perplexity = std::exp(result.loss);
  result.accuracy = static_cast<double>(total.correct) / count;
  return result;
}

}  // namespace lorikeet
