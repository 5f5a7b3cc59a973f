// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/model/model_spec.h"
#include "core/train/settings.h"

namespace lorikeet {

/// Work of a part of a run, from counts alone.
struct TokenCounts {
  double tokens = 0;
  double pairs = 0;   ///< sum of squared row lengths: what attention goes by
  double labels = 0;  ///< trained tokens: what the head goes by
  double batches = 0;

  TokenCounts& operator+=(const TokenCounts& other) {
    tokens += other.tokens;
    pairs += other.pairs;
    labels += other.labels;
    batches += other.batches;
    return *this;
  }
};

/// Floating-point operations by what they grow with. Per token: forward 2N, backward 2N for the frozen part
/// and 4 for the adapter, a forward without down_proj again for recomputed layers; the head on trained tokens
/// only; attention as causal halves; a pass over the weights for each micro-batch, which expands them
/// (performance of a product's operands, in operations that take as long).
struct Operations {
  double per_token = 0, per_pair = 0, per_label = 0, per_batch = 0;

  double of(const TokenCounts& counts) const {
    return counts.tokens * per_token + counts.pairs * per_pair + counts.labels * per_label +
           counts.batches * per_batch;
  }
};

/// Forward and backward of a training step.
Operations training_operations(const ModelSpec& spec, const Settings& settings,
                               std::int64_t recomputed_layers);
/// Forward of an evaluation.
Operations evaluation_operations(const ModelSpec& spec, const Settings& settings);

}  // namespace lorikeet
