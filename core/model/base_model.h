// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/model_spec.h"
#include "kernels/backend.h"

namespace lorikeet {

class WeightSource;

/// Frozen weights of one decoder layer.
struct LayerWeights {
  Weight q, k, v, o, gate, up, down;
  Tensor input_norm, post_attention_norm;   ///< f32 [H]
};

/// A base model resident on a device: loaded once, shared by training, evaluation and chat.
class BaseModel {
 public:
  /// `linear` is the format of the linear layers, `wide` (bf16 or f32) that of embedding and head; norms are f32.
  /// Streams: peak memory <= finished model + 2 x the largest tensor. `progress` gets bytes done and bytes in all.
  /// Throws Error naming the tensor that is missing, has the wrong shape or holds a value that is not finite.
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;
  static BaseModel load(Backend& backend, const ModelSpec& spec, const WeightSource& source, WeightFormat linear,
                        WeightFormat wide, std::stop_token stop = {}, const Progress& progress = {});

  const ModelSpec& spec() const { return spec_; }
  Backend& backend() const { return *backend_; }
  std::uint64_t bytes() const;
  const std::vector<LayerWeights>& layers() const { return layers_; }
  TensorView embedding() const;             ///< (V,H)
  const Weight& head() const;               ///< (V,H); views the embedding when tied
  TensorView final_norm() const { return final_norm_; }
  TensorView rope_cosine() const { return rope_cosine_; }   ///< f32 (positions prepared, d/2)
  TensorView rope_sine() const { return rope_sine_; }
  /// Makes the RoPE tables reach `positions`. `linear_factor` > 1 stretches them (max-length above the context); it is
  /// decided once per run or chat.
  void prepare_positions(std::int64_t positions, double linear_factor = 1);

 private:
  Backend* backend_ = nullptr;
  ModelSpec spec_;
  std::vector<LayerWeights> layers_;
  Weight embedding_;
  Weight head_;                             ///< empty when tied
  Tensor final_norm_, rope_cosine_, rope_sine_;
  double linear_factor_ = 1;
};

/// Inverse frequencies of each rotated pair, f32 as Hugging Face has them (formats.md §1.5).
std::vector<float> rope_inverse_frequencies(const RopeSpec& rope, double linear_factor = 1);

}  // namespace lorikeet
