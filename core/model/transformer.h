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
  double loss_sum = 0;  ///< sum of -log p over trained tokens
  std::int64_t correct = 0;
  std::int64_t trained_tokens = 0;
};

/// Forward and backward of one model with one adapter over packed rows. Owns its activation arena, sized once
/// for the largest micro-batch; nothing is allocated in a step. Llama equations (formats.md §1.3), rounding
/// points of design.md §10. Activations of layer i are kept when keep[i], else recomputed in the backward.
/// The passes over the layers go through Backend::repeat, so where the device can, a batch of known shape is
/// one recording for the forward and one for the backward. Dropout of the adapter's inputs and noise on the embeddings
/// are part of forward_backward alone, drawn from the keys of the batch. `between` is called between layers where the back
/// end computes while it is called, else between those recordings; it may throw Error(cancelled).
class Transformer {
 public:
  struct Options {
    DType compute = DType::f32;
    std::int64_t max_tokens = 0;  ///< largest micro-batch
    std::vector<bool> keep;       ///< one per layer
    bool offload = false;         ///< inputs of layers that are not kept wait in memory of the host
    float dropout = 0;            ///< share of each adapted layer's input that its branch does not see, in [0,1)
    float neftune = 0;            ///< embeddings get noise in +-neftune / sqrt(length of the row * H); 0 = none
  };
  /// `adapter` may be null: then there are no gradients.
  Transformer(BaseModel& model, const LoraAdapter* adapter, Options options);
  ~Transformer();

  /// To be called after every change of the adapter's numbers: what follows from them (DoRA's norms) is made again.
  void adapter_changed();
  /// Adds {loss, correct answers} of a batch to `sums` f64 [2] on the device, without waiting for it.
  void evaluate(const TokenBatch& batch, TensorView sums, const std::function<void()>& between = {});
  /// The same in training, and adds the gradient of loss * grad_scale to `gradients`, a block laid out as
  /// adapter.parameters(). Throws Error(invalid_argument) when something is to be drawn and the batch has no keys.
  void forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients, TensorView sums,
                        const std::function<void()>& between = {});
  /// The same with sums of this batch alone, waiting for them; for tests and proofs.
  BatchLoss evaluate(const TokenBatch& batch);
  BatchLoss forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients);
  /// Logits f32 of every position, into host memory [T*V]; for tests and export proofs on small models.
  std::vector<float> logits(const TokenBatch& batch);

  BaseModel& model() const;
  std::size_t arena_bytes() const;       ///< planned
  std::size_t arena_peak_bytes() const;  ///< used by the largest batch so far

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet
