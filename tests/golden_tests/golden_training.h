// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/trainer.h"
#include "tests/golden_tests/tiny_model.h"

namespace lorikeet::golden {

/// The settings of lora_10_steps.
Settings ten_step_settings();

/// The ten golden steps on tiny_llama: a trainer at their start and all it borrows.
struct Training {
  explicit Training(std::int64_t recomputed_layers, int threads = 1,
                    const Settings& settings = ten_step_settings());
  /// The same rows for a case of lora_variants.
  Training(const std::string& variant, std::int64_t recomputed_layers, int threads,
           const Settings& settings = ten_step_settings());
  /// The same rows under other settings, from an adapter whose A comes of the formula of
  /// make_training_curves.py and whose B is 0.
  explicit Training(const Settings& settings);

  /// Saves the training, forgets it, and goes on from what was saved with a new trainer.
  void resume();

  /// Every tensor of a block (parameters or gradients) against the file of PEFT names; throws
  /// std::runtime_error naming one that is off by more than `tolerance` (relative); gives the worst.
  double compare(TensorView block, const std::string& file, double tolerance);

  TinyModel model;
  LoraAdapter adapter;
  std::vector<TokenRow> rows, no_rows;
  std::unique_ptr<Trainer> trainer;

 private:
  void start(const Settings& settings, std::int64_t recomputed_layers);

  Settings settings_;
  std::int64_t recomputed_layers_ = 0;
};

}  // namespace lorikeet::golden
