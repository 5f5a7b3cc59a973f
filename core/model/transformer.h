// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/model/base_model.h"

namespace lorikeet {

class LoraAdapter;
struct TokenBatch;

/// What one micro-batch gave.
struct BatchLoss {
  double loss_sum = 0;          ///< sum of -log p over trained tokens
  std::int64_t correct = 0;
  std::int64_t trained_tokens = 0;
};

/// Forward and backward of one model with one adapter over packed rows. Owns its activation arena, sized once for the
/// largest micro-batch; nothing is allocated in a step. Llama equations (formats.md §1.3), rounding points of design.md
/// §10. Activations of layer i are kept when keep[i], else recomputed in the backward.
class Transformer {
 public:
  struct Options {
    DType compute = DType::f32;
    std::int64_t max_tokens = 0;            ///< largest micro-batch
    std::vector<bool> keep;                 ///< one per layer
  };
  Transformer(BaseModel& model, const LoraAdapter* adapter, Options options);
  ~Transformer();

  /// Loss of a batch without gradients; `between` as below.
  BatchLoss evaluate(const TokenBatch& batch, const std::function<void()>& between = {});
  /// Adds gradient of loss_sum * grad_scale to `gradients`, a block laid out as adapter.parameters(). Between layers it
  /// calls `between`, if given, which may throw Error(cancelled).
  BatchLoss forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients,
                             const std::function<void()>& between = {});
  /// Logits f32 of every position, into host memory [T*V]; for tests and export proofs on small models.
  std::vector<float> logits(const TokenBatch& batch);

  std::size_t arena_bytes() const;        ///< planned
  std::size_t arena_peak_bytes() const;   ///< used by the largest batch so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet
