// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/model/lora_adapter.h"
#include "core/model/transformer.h"
#include "core/train/trainer.h"
#include "tests/support/tiny_model.h"

namespace lorikeet::test {

/// Rows of random tokens whose second half is trained; lengths between 4 and `longest`.
std::vector<TokenRow> random_rows(std::int64_t count, std::int64_t longest, std::uint64_t seed);

/// Everything a Trainer needs, on a tiny random model in f32 without quantisation unless the settings say
/// otherwise.
class TrainingSetup {
 public:
  /// `recomputed_layers` >= 0 overrides the plan.
  TrainingSetup(const std::string& model_folder, Settings settings, std::vector<TokenRow> train,
                std::vector<TokenRow> evaluation = {}, DType compute = DType::f32,
                std::int64_t recomputed_layers = -1);

  Trainer& trainer() { return *trainer_; }
  LoraAdapter& adapter() { return *adapter_; }
  BaseModel& model() { return *model_; }
  Backend& backend() { return *backend_; }
  const Plan& plan() const { return plan_; }
  std::vector<float> parameters() const;
  std::vector<float> gradients() const;

 private:
  std::vector<TokenRow> train_, evaluation_;
  Plan plan_;
  std::unique_ptr<Backend> backend_;
  std::unique_ptr<BaseModel> model_;
  std::unique_ptr<LoraAdapter> adapter_;
  std::unique_ptr<Trainer> trainer_;
};

/// Settings for exact comparisons: f32, no quantisation, 32-bit AdamW, no warm-up, few steps.
Settings exact_settings();

/// Gives B of every module small random values, so that gradients of A are not zero.
void randomise_b(Backend& backend, LoraAdapter& adapter, std::uint64_t seed);

}  // namespace lorikeet::test
