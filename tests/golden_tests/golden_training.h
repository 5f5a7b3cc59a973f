// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/train/trainer.h"
#include "tests/golden_tests/tiny_model.h"

namespace lorikeet::golden {

/// The ten golden steps on tiny_llama: a trainer at their start and all it borrows.
struct Training {
  explicit Training(std::int64_t recomputed_layers, int threads = 1);

  TinyModel model;
  LoraAdapter adapter;
  std::vector<TokenRow> rows, no_rows;
  std::unique_ptr<Trainer> trainer;
};

}  // namespace lorikeet::golden
