// SPDX-License-Identifier: Apache-2.0
#include "tests/core/train/training_support.h"

#include "core/model/compute_choice.h"
#include "core/model/dora.h"
#include "kernels/base/random.h"

namespace lorikeet::test {

std::vector<TokenRow> random_rows(std::int64_t count, std::int64_t longest, std::uint64_t seed) {
  RandomStream random({seed, 0, 0, 0, RandomUse::test});
  std::vector<TokenRow> rows;
  for (std::int64_t number = 1; number <= count; ++number) {
    TokenRow row;
    row.number = number;
    const auto length =
        4 + static_cast<std::int64_t>(random.next_below(static_cast<std::uint64_t>(longest - 3)));
    for (std::int64_t t = 0; t < length; ++t)
      row.ids.push_back(static_cast<TokenId>(3 + random.next_below(250)));
    row.targets.assign(row.ids.size(), -1);
    for (std::int64_t t = length / 2; t + 1 < length; ++t) {
      row.targets[static_cast<std::size_t>(t)] = row.ids[static_cast<std::size_t>(t) + 1];
      ++row.trained_tokens;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Settings exact_settings() {
  Settings settings;
  settings.quantization = "none";
  settings.compute = "f32";
  settings.optimizer = "adamw";
  settings.rank = 4;
  settings.alpha = 8;
  settings.max_length = 32;
  settings.max_steps = 10;
  settings.learning_rate = 5e-3;
  settings.warmup_ratio = 0;
  settings.memory_limit_bytes = 1'000'000'000;
  return settings;
}

TrainingSetup::TrainingSetup(const std::string& model_folder, Settings settings, std::vector<TokenRow> train,
                             std::vector<TokenRow> evaluation, DType compute, std::int64_t recomputed_layers)
    : train_(std::move(train)), evaluation_(std::move(evaluation)) {
  const ModelSpec spec = read_model_spec(model_folder);
  backend_ = make_backend_for(settings);
  model_ = std::make_unique<BaseModel>(load_base_model(*backend_, model_folder, spec, settings, compute));
  adapter_ = std::make_unique<LoraAdapter>(LoraAdapter::create(*backend_, spec, settings));
  start_magnitudes(*model_, *adapter_);
  const DataShape shape = data_shape(train_, evaluation_, settings, resolved_max_length(settings, spec));
  plan_ = make_plan(spec, shape, settings, plan_device(*backend_, compute));
  if (recomputed_layers >= 0) plan_.recomputed_layers = recomputed_layers;
  Trainer::Parts parts;
  parts.model = model_.get();
  parts.adapter = adapter_.get();
  parts.train_rows = &train_;
  parts.evaluation_rows = &evaluation_;
  parts.settings = settings;
  parts.plan = plan_;
  parts.compute = compute;
  trainer_ = std::make_unique<Trainer>(std::move(parts));
}

std::vector<float> TrainingSetup::parameters() const {
  std::vector<float> values(static_cast<std::size_t>(adapter_->parameter_count()));
  backend_->download(values.data(), adapter_->parameters());
  return values;
}

std::vector<float> TrainingSetup::gradients() const {
  std::vector<float> values(static_cast<std::size_t>(adapter_->parameter_count()));
  backend_->download(values.data(), trainer_->gradients());
  return values;
}

void randomise_b(Backend& backend, LoraAdapter& adapter, std::uint64_t seed) {
  RandomStream random({seed, 0, 0, 0, RandomUse::test});
  for (const auto& module : adapter.modules()) {
    std::vector<float> values(static_cast<std::size_t>(module.b.elements()));
    for (float& value : values) value = static_cast<float>(0.05 * random.next_normal());
    backend.upload(module.b, values.data());
  }
}

}  // namespace lorikeet::test
