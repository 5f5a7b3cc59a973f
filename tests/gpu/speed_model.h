// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/backend.h"

// A QLoRA step and a chat token made of the back end's operations, on random weights, to be timed.
namespace lorikeet::speed {

struct ModelShape {
  std::string name;
  std::int64_t vocabulary = 0, hidden = 0, inner = 0, layers = 0, heads = 0, kv_heads = 0, head_dim = 0;
  bool tied = false;

  std::int64_t q_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
  /// out and in of q, k, v, o, gate, up, down.
  std::array<std::array<std::int64_t, 2>, 7> linears() const;
  double linear_parameters() const;
  double head_parameters() const { return static_cast<double>(vocabulary * hidden); }
  double lora_parameters(std::int64_t rank) const;
  /// Floating-point operations a token needs in a step that keeps only the layers' inputs (the last
  /// projection is not computed again), for a mean attended context of `context` tokens.
  double step_operations(double context, std::int64_t rank) const;
  /// Bytes a chat token has to read at this position.
  double decode_bytes(double position, std::int64_t rank) const;
};

/// NF4 weights with double quantisation and adapters on all linear layers.
class SpeedModel {
 public:
  SpeedModel(Backend& backend, ModelShape shape, std::int64_t rank);
  ~SpeedModel();

  /// Room for packed batches of `sequences` rows of `length` tokens; full recomputation.
  void prepare_training(std::int64_t sequences, std::int64_t length);
  /// Forward, backward and update; returns before the device is done.
  void step();
  double loss();  ///< of the last step, a trained token; waits

  void prepare_chat(std::int64_t context);
  /// One token at `position`, drawn greedily from the one before.
  void decode(std::int64_t position);
  std::int32_t last_token();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lorikeet::speed
