// SPDX-License-Identifier: Apache-2.0
#include "core/train/evaluate.h"

#include <algorithm>
#include <cmath>

#include "core/data/packing.h"
#include "core/train/readback.h"
#include "kernels/base/error.h"

namespace lorikeet {

Evaluation evaluate_rows(Transformer& transformer, const std::vector<TokenRow>& rows, std::int64_t max_tokens,
                         const std::function<void()>& between) {
  Backend& backend = transformer.model().backend();
  const Tensor sums = backend.allocate({2}, DType::f64);
  backend.fill_zero(sums);
  Evaluation result;
  std::vector<std::int64_t> group;
  std::int64_t group_tokens = 0;
  const auto run_group = [&] {
    const TokenBatch batch = make_batch(rows, group);
    transformer.evaluate(batch, sums, between);
    result.tokens += batch.trained_tokens;
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
  Readback readback(backend, sums.view().bytes());
  readback.start(sums);
  readback.wait(between);
  const auto* totals = readback.values<double>();
  const auto count = static_cast<double>(std::max<std::int64_t>(1, result.tokens));
  result.loss = totals[0] / count;
  result.perplexity = std::exp(result.loss);
  result.accuracy = totals[1] / count;
  return result;
}

Evaluation evaluate_fitting(Transformer& transformer, const std::vector<TokenRow>& rows,
                            std::int64_t& max_tokens, const std::function<void()>& between) {
  for (;;) {
    try {
      return evaluate_rows(transformer, rows, max_tokens, between);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory || max_tokens <= 1) throw;
      max_tokens /= 2;
    }
  }
}

}  // namespace lorikeet
