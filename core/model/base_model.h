// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/model/model_spec.h"
#include "kernels/backend.h"

namespace lorikeet {

class WeightSource;

/// A norm's numbers, f32 [width]; only a LayerNorm has a bias.
struct NormWeights {
  Tensor weight, bias;
};

/// Frozen weights of one decoder layer.
struct LayerWeights {
  std::array<Weight, linear_count> linear;        ///< by role; empty where the family has none
  std::array<NormWeights, norm_count> norms;      ///< the same
  std::vector<Weight> fused;                      ///< whole matrices of which `linear` borrows rows

  std::uint64_t bytes() const;
};
/// The weight of a linear layer.
inline const Weight& linear_weight(const LayerWeights& layer, std::size_t which) { return layer.linear[which]; }

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
  const NormWeights& final_norm() const { return final_norm_; }
  TensorView rope_cosine() const { return rope_cosine_; }   ///< f32 (positions prepared, d/2)
  TensorView rope_sine() const { return rope_sine_; }
  /// Makes the RoPE tables reach `positions`. `linear_factor` > 1 stretches them (max-length above the context). Both
  /// are decided once per run or chat: under dynamic and longrope scaling the frequencies depend on how far the tables
  /// reach, as they do in llama.cpp and vLLM (Hugging Face decides anew for each batch).
  void prepare_positions(std::int64_t positions, double linear_factor = 1);

 private:
  Backend* backend_ = nullptr;
  ModelSpec spec_;
  std::vector<LayerWeights> layers_;
  Weight embedding_;
  Weight head_;                             ///< empty when tied
  NormWeights final_norm_;
  Tensor rope_cosine_, rope_sine_;
  double linear_factor_ = 1;
};

}  // namespace lorikeet
