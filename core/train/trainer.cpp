// SPDX-License-Identifier: Apache-2.0
#include "core/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/train/batch_stream.h"
#include "core/train/checkpoint.h"
#include "core/train/optimizer.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

Transformer::Options transformer_options(const Trainer::Parts& parts) {
  Transformer::Options options;
  options.compute = parts.compute;
  options.max_tokens = parts.plan.largest_batch;
  options.keep.assign(static_cast<std::size_t>(parts.model->spec().layers), true);
  // Which layers are recomputed makes no difference to time or peak memory; the first ones are.
  for (std::int64_t layer = 0; layer < parts.plan.recomputed_layers; ++layer)
    options.keep[static_cast<std::size_t>(layer)] = false;
  return options;
}

/// Puts the parameters of a saved adapter into one of the same make, whose memory others hold views of.
void restore_adapter(Backend& backend, const ModelSpec& spec, LoraAdapter& adapter,
                     const std::string& folder) {
  const LoraAdapter saved = LoraAdapter::load(backend, spec, folder);
  const auto same = [](const LoraModule& one, const LoraModule& other) {
    return one.layer == other.layer && one.name == other.name && one.rank == other.rank &&
           one.scale == other.scale;
  };
  if (!std::equal(saved.modules().begin(), saved.modules().end(), adapter.modules().begin(),
                  adapter.modules().end(), same)) {
    throw Error(ErrorCode::bad_format,
                "The checkpoint's adapter has other modules, ranks or scales than this run", folder);
  }
  backend.copy(adapter.parameters(), saved.parameters());
}

}  // namespace

struct Trainer::Impl {
  explicit Impl(Parts given)
      : parts(std::move(given)),
        backend(parts.model->backend()),
        transformer(
            (parts.model->prepare_positions(parts.plan.max_length, parts.rope_linear_factor), *parts.model),
            parts.adapter, transformer_options(parts)),
        optimizer(backend, *parts.adapter, parts.settings.optimizer),
        stream(*parts.train_rows, parts.settings, parts.plan.max_length),
        gradients(backend.allocate({parts.adapter->parameter_count()}, DType::f32)),
        square_sum(backend.allocate({1}, DType::f64)) {
    schedule = {parts.settings.schedule, parts.settings.learning_rate, parts.settings.min_rate,
                parts.plan.steps, parts.plan.warmup_steps};
  }

  double gradient_norm() {
    backend.fill_zero(square_sum);
    backend.sum_of_squares(gradients, square_sum);
    double sum = 0;
    backend.download(&sum, square_sum);
    return std::sqrt(sum);
  }

  void update(const StepReport& report) {
    AdamStep adam;
    adam.learning_rate = static_cast<float>(report.learning_rate);
    adam.weight_decay = static_cast<float>(parts.settings.weight_decay);
    adam.step = report.step - skipped;
    const double limit = parts.settings.max_grad_norm;
    if (limit > 0) adam.gradient_scale = static_cast<float>(std::min(1.0, limit / (report.grad_norm + 1e-6)));
    optimizer.step(gradients, adam);
  }

  Parts parts;
  Backend& backend;
  Transformer transformer;
  AdapterOptimizer optimizer;
  BatchStream stream;
  Schedule schedule;
  Tensor gradients, square_sum;
  std::int64_t done = 0, tokens = 0, skipped = 0;
};

Trainer::Trainer(Parts parts) : impl_(std::make_unique<Impl>(std::move(parts))) {}
Trainer::~Trainer() = default;

std::int64_t Trainer::step_number() const {
  return impl_->done;
}
std::int64_t Trainer::total_steps() const {
  return impl_->parts.plan.steps;
}
std::int64_t Trainer::tokens_seen() const {
  return impl_->tokens;
}
std::int64_t Trainer::skipped_steps() const {
  return impl_->skipped;
}
std::size_t Trainer::arena_peak_bytes() const {
  return impl_->transformer.arena_peak_bytes();
}
TensorView Trainer::gradients() const {
  return impl_->gradients;
}

StepReport Trainer::step(const std::function<void()>& between) {
  Impl& t = *impl_;
  std::vector<TokenBatch> batches;
  StepReport report;
  for (const auto& indexes : t.stream.step_batches()) {
    batches.push_back(make_batch(*t.parts.train_rows, indexes));
    report.tokens += static_cast<std::int64_t>(batches.back().ids.size());
    report.trained_tokens += batches.back().trained_tokens;
    report.rows.insert(report.rows.end(), batches.back().rows.begin(), batches.back().rows.end());
  }
  report.step = t.done + 1;
  report.epoch = t.stream.epoch_after();
  report.learning_rate = t.schedule.rate_at(t.done);
  t.backend.fill_zero(t.gradients);
  const auto count = static_cast<double>(std::max<std::int64_t>(1, report.trained_tokens));
  double loss_sum = 0;
  for (const auto& batch : batches) {
    loss_sum +=
        t.transformer.forward_backward(batch, static_cast<float>(1.0 / count), t.gradients, between).loss_sum;
  }
  report.loss = loss_sum / count;
  report.grad_norm = t.gradient_norm();
  // Nothing was changed until here: a cancelled step has not happened, and a broken one changes nothing.
  report.skipped = !std::isfinite(report.loss) || !std::isfinite(report.grad_norm);
  if (report.skipped)
    ++t.skipped;
  else
    t.update(report);
  t.stream.advance();
  t.done = report.step;
  t.tokens += report.tokens;
  return report;
}

Evaluation Trainer::evaluate(const std::function<void()>& between) {
  Impl& t = *impl_;
  return evaluate_rows(t.transformer, *t.parts.evaluation_rows, t.parts.plan.largest_batch, between);
}

void Trainer::save(const std::string& folder, const AdapterNotes& notes) const {
  const Impl& t = *impl_;
  CheckpointWriter writer(folder);
  t.parts.adapter->save(t.backend, writer.folder(), notes);
  writer.add_file("optimizer.bin", t.optimizer.save());
  const Json state = {{"format", 1},
                      {"step", t.done},
                      {"tokens", t.tokens},
                      {"skipped", t.skipped},
                      {"optimizer", t.parts.settings.optimizer}};
  const std::string text = dump_json(state, 2) + "\n";
  writer.add_file("trainer.json", {text.begin(), text.end()});
  writer.commit(t.done);
}

void Trainer::restore(const std::string& folder) {
  Impl& t = *impl_;
  verify_checkpoint(folder);
  const std::string name = folder + "/trainer.json";
  const Json state = read_json_file(name);
  if (json_string(state, "optimizer", "", name) != t.parts.settings.optimizer) {
    throw Error(ErrorCode::bad_format, "The checkpoint was made with another optimizer", name);
  }
  const std::string bytes = read_file(folder + "/optimizer.bin");
  t.optimizer.restore({bytes.begin(), bytes.end()});
  restore_adapter(t.backend, t.parts.model->spec(), *t.parts.adapter, folder);
  t.done = json_int(state, "step", 0, 0, INT64_MAX, name);
  t.tokens = json_int(state, "tokens", 0, 0, INT64_MAX, name);
  t.skipped = json_int(state, "skipped", 0, 0, INT64_MAX, name);
  t.stream.seek(t.done);
}

}  // namespace lorikeet
