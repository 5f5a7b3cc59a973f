// SPDX-License-Identifier: Apache-2.0
#include "core/train/micro_batches.h"

#include <algorithm>

namespace lorikeet {

std::vector<std::vector<std::int64_t>> cut_micro_batches(
    const std::vector<TokenRow>& rows, const std::vector<std::vector<std::int64_t>>& batches,
    std::int64_t tokens) {
  std::vector<std::vector<std::int64_t>> parts;
  for (const auto& batch : batches) {
    std::int64_t held = 0;
    parts.emplace_back();
    for (const std::int64_t index : batch) {
      const auto length = static_cast<std::int64_t>(rows[static_cast<std::size_t>(index)].ids.size());
      if (!parts.back().empty() && held + length > tokens) {
        parts.emplace_back();
        held = 0;
      }
      parts.back().push_back(index);
      held += length;
    }
  }
  return parts;
}

std::optional<StepShape> smaller_step(const StepShape& shape, std::int64_t longest_row, std::int64_t layers) {
  if (shape.micro_batch_tokens > longest_row)
    return StepShape{std::max(longest_row, shape.micro_batch_tokens / 2), shape.recomputed_layers};
  const std::int64_t kept = layers - shape.recomputed_layers;
  if (kept > 0) return StepShape{shape.micro_batch_tokens, layers - kept / 2};
  return std::nullopt;
}

StepShape shape_of_step(const StepShape& planned, const std::vector<StepShapeChange>& changes,
                        std::int64_t step) {
  StepShape shape = planned;
  for (const auto& change : changes) {
    if (change.from_step <= step) shape = change.shape;
  }
  return shape;
}

}  // namespace lorikeet
