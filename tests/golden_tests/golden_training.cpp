// SPDX-License-Identifier: Apache-2.0
#include "tests/golden_tests/golden_training.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/train/plan.h"
#include "tests/support/golden.h"

namespace lorikeet::golden {

namespace {

TokenRow row_of(const nlohmann::ordered_json& json) {
  TokenRow row = plain_row(json.at("ids").get<std::vector<TokenId>>());
  for (const auto& range : json.at("trained"))
    for (auto t = std::max(range.at(0).get<std::size_t>(), std::size_t{1});
         t < range.at(1).get<std::size_t>(); ++t) {
      row.targets[t - 1] = row.ids[t];
      ++row.trained_tokens;
    }
  return row;
}

void train_every_token(TokenRow& row) {
  for (std::size_t t = 1; t < row.ids.size(); ++t) row.targets[t - 1] = row.ids[t];
  row.trained_tokens = static_cast<std::int64_t>(row.ids.size()) - 1;
}

void start_by_formula(Backend& backend, LoraAdapter& adapter) {
  for (const LoraModule& module : adapter.modules()) {
    std::vector<float> a;
    for (std::int64_t i = 0; i < module.rank; ++i)
      for (std::int64_t j = 0; j < module.in; ++j)
        a.push_back(static_cast<float>(static_cast<double>((i * 31 + j * 17) % 61 - 30) / 30 /
                                       std::sqrt(static_cast<double>(module.in))));
    backend.upload(module.a, a.data());
    backend.fill_zero(module.b);
  }
}

/// Every row of the ten steps, in order.
std::vector<TokenRow> golden_rows(bool train_all) {
  std::vector<TokenRow> rows;
  const auto json = read_json("lora_10_steps/rows.json");
  for (const auto& step : json.at("steps"))
    for (const auto& batch : step)
      for (const auto& row : batch) {
        rows.push_back(row_of(row));
        if (train_all) train_every_token(rows.back());
        rows.back().number = static_cast<std::int64_t>(rows.size());
      }
  return rows;
}

WeightFormat format_of(const std::string& variant) {
  const auto run = read_json("lora_variants/run.json");
  return run.at("cases").at(variant).at("quantization") == "nf4" ? WeightFormat::nf4 : WeightFormat::f32;
}

}  // namespace

Settings ten_step_settings() {
  Settings settings;
  settings.quantization = "none";
  settings.packing = false;
  settings.shuffle = false;
  settings.batch_size = 2;
  settings.accumulation = 4;
  settings.rank = 8;
  settings.alpha = 16;
  settings.optimizer = "adamw";
  settings.learning_rate = 1e-2;
  settings.weight_decay = 0.01;
  settings.max_grad_norm = 1;
  settings.schedule = "linear";
  settings.warmup_ratio = 0;
  settings.eval_fraction = 0;
  settings.compute = "f32";
  settings.max_length = 128;
  return settings;
}

Training::Training(std::int64_t recomputed_layers, int threads, const Settings& settings)
    : model("tiny_llama", threads),
      adapter(LoraAdapter::load(model.backend(), model.spec(), path("lora_10_steps/adapter_start"))),
      rows(golden_rows(false)) {
  start(settings, recomputed_layers);
}

Training::Training(const std::string& variant, std::int64_t recomputed_layers, int threads,
                   const Settings& given)
    : model("tiny_llama", threads, format_of(variant)),
      adapter(LoraAdapter::load(model.backend(), model.spec(),
                                path("lora_variants/" + variant + "/adapter_start"))),
      rows(golden_rows(false)) {
  Settings settings = given;
  settings.rank = adapter.config().rank;
  settings.alpha = adapter.config().alpha;
  settings.dora = adapter.config().dora;
  start(settings, recomputed_layers);
}

Training::Training(const Settings& settings)
    : model("tiny_llama", 1),
      adapter(LoraAdapter::create(model.backend(), model.spec(), settings)),
      rows(golden_rows(settings.train_on == "all")) {
  start_by_formula(model.backend(), adapter);
  start(settings, 0);
}

void Training::start(const Settings& settings, std::int64_t recomputed_layers) {
  settings_ = settings;
  recomputed_layers_ = recomputed_layers;
  Trainer::Parts parts;
  parts.model = &model.base();
  parts.adapter = &adapter;
  parts.train_rows = &rows;
  parts.evaluation_rows = &no_rows;
  parts.settings = settings;
  parts.compute = DType::f32;
  const DataShape data = data_shape(rows, no_rows, parts.settings, parts.settings.max_length);
  parts.plan = make_plan(model.spec(), data, parts.settings, {std::uint64_t{1} << 32, 4});
  parts.plan.recomputed_layers = recomputed_layers;
  trainer = std::make_unique<Trainer>(parts);
}

void Training::resume() {
  const auto folder = std::filesystem::temp_directory_path() / ("golden-" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  trainer->save(folder.string(), {});
  trainer.reset();
  model.backend().fill_zero(adapter.parameters());
  start(settings_, recomputed_layers_);
  trainer->restore(folder.string());
  std::filesystem::remove_all(folder);
}

double Training::compare(TensorView block, const std::string& file, double tolerance) {
  const auto tensors = read_tensors(file);
  double worst = 0;
  std::size_t compared = 0;
  for (const LoraModule& module : adapter.modules()) {
    for (const char part : parts_of(module)) {
      const std::string name = peft_name(module, part);
      const double off = relative_difference(module_values(model.backend(), adapter, block, module, part),
                                             tensors.at(name).floats());
      if (!(off <= tolerance)) throw std::runtime_error(name + " is off by " + std::to_string(off));
      worst = std::max(worst, off);
      ++compared;
    }
  }
  if (compared != tensors.size()) throw std::runtime_error(file + " has other tensors than the adapter");
  return worst;
}

}  // namespace lorikeet::golden
