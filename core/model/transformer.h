// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/model_spec.h"
#include "kernels/backend.h"

namespace lorikeet {

class LoraAdapter;
class WeightSource;
struct TokenBatch;

/// Frozen weights of one decoder layer.
struct LayerWeights {
  Weight q, k, v, o, gate, up, down;
  Tensor input_norm, post_attention_norm;   ///< f32 [H]
};

/// A base model resident on a device: loaded once, shared by training, evaluation and chat.
class BaseModel {
 public:
  /// `format` for the linear layers; embedding, norms and head stay 16-bit (f32 with WeightFormat::f32). Streams: peak
  /// memory <= finished model + 2 x the largest tensor. `progress` gets bytes done and bytes in all.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  static BaseModel load(Backend& backend, const ModelSpec& spec, const WeightSource& source, WeightFormat format,
                        std::stop_token stop = {}, const Progress& progress = {});

  const ModelSpec& spec() const { return spec_; }
  Backend& backend() const { return *backend_; }
  std::uint64_t bytes() const;
  const std::vector<LayerWeights>& layers() const { return layers_; }
  TensorView embedding() const;             ///< (V,H)
  const Weight& head() const;               ///< (V,H); views the embedding when tied
  TensorView final_norm() const { return final_norm_; }
  TensorView rope_cosine() const { return rope_cosine_; }   ///< f32 (context,d/2)
  TensorView rope_sine() const { return rope_sine_; }
  /// Lengthens the RoPE tables to `positions` (max-length or a chat beyond the context).
  void prepare_positions(std::int64_t positions, double linear_factor = 1);

 private:
  Backend* backend_ = nullptr;
  ModelSpec spec_;
  std::vector<LayerWeights> layers_;
  Weight embedding_;
  Weight head_;
  Tensor final_norm_, rope_cosine_, rope_sine_;
};

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

  /// Loss of a batch without gradients.
  BatchLoss evaluate(const TokenBatch& batch);
  /// Adds gradient of loss_sum * grad_scale to `gradients`, a block laid out as adapter.parameters(). Between layers it
  /// calls `between`, if given, which may throw Error(cancelled).
  BatchLoss forward_backward(const TokenBatch& batch, float grad_scale, TensorView gradients,
                             const std::function<void()>& between = {});
  /// Logits f32 of every position, into host memory [T*V]; for tests and export proofs on small models.
  std::vector<float> logits(const TokenBatch& batch);

  std::size_t arena_bytes() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace lorikeet
