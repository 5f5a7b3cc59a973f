// SPDX-License-Identifier: Apache-2.0
#include "core/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/train/batch_stream.h"
#include "core/train/checkpoint.h"
#include "core/train/loss_scale.h"
#include "core/train/readback.h"
#include "core/train/run_record.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

Transformer::Options transformer_options(const Trainer::Parts& parts, const StepShape& shape) {
  Transformer::Options options;
  options.compute = parts.compute;
  options.max_tokens = shape.micro_batch_tokens;
  options.offload = parts.settings.offload;
  options.dropout = static_cast<float>(parts.settings.dropout);
  options.neftune = static_cast<float>(parts.settings.neftune);
  options.keep = kept_layers(parts.model->spec().layers, shape.recomputed_layers);
  return options;
}

/// Puts the parameters of a saved adapter into one of the same make, whose memory others hold views of.
void restore_adapter(Backend& backend, const ModelSpec& spec, LoraAdapter& adapter,
                     const std::string& folder) {
  const LoraAdapter saved = LoraAdapter::load(backend, spec, folder);
  const auto same = [](const LoraModule& one, const LoraModule& other) {
    return one.layer == other.layer && one.name == other.name && one.rank == other.rank &&
           one.scale == other.scale && static_cast<bool>(one.m) == static_cast<bool>(other.m);
  };
  if (!std::equal(saved.modules().begin(), saved.modules().end(), adapter.modules().begin(),
                  adapter.modules().end(), same)) {
    throw Error(ErrorCode::bad_format,
                "The checkpoint's adapter has other modules, ranks or scales than this run", folder);
  }
  backend.copy(adapter.parameters(), saved.parameters());
}

/// Places in the block of numbers that come back from the device after a step: loss and correct answers, the
/// squares of the weights, then what guarded_adamw leaves.
constexpr std::int64_t sums_count = 2, weights_at = sums_count, outcome_at = weights_at + 1,
                       numbers_count = outcome_at + outcome_count;

Json scale_json(const LossScale::State& state) {
  return {{"scale", state.scale}, {"good_steps", state.good_steps}};
}

/// A checkpoint of a run in another type has none.
LossScale::State read_scale(const Json& json, const char* key, const std::string& file) {
  LossScale::State state;
  if (!json.contains(key)) return state;
  const Json& entry = json.at(key);
  if (!entry.is_object()) throw Error(ErrorCode::bad_format, "The loss scale is not an object", file);
  state.scale = json_number(entry, "scale", state.scale, file);
  state.good_steps = json_int(entry, "good_steps", 0, 0, LossScale::patience - 1, file);
  int exponent = 0;
  const bool is_power = std::frexp(state.scale, &exponent) == 0.5;
  if (!(state.scale >= LossScale::smallest && state.scale <= LossScale::largest) || !is_power) {
    throw Error(ErrorCode::bad_format, "The loss scale is no power of two between 2^-14 and 2^24", file);
  }
  return state;
}

}  // namespace

struct Trainer::Impl {
  explicit Impl(Parts given)
      : parts(std::move(given)),
        backend(parts.model->backend()),
        optimizer(backend, *parts.adapter, parts.settings.optimizer),
        stream(*parts.train_rows, parts.settings, parts.plan.max_length),
        gradients(backend.allocate({parts.adapter->parameter_count()}, DType::f32)),
        numbers(backend.allocate({numbers_count + optimizer.part_count() * norms_count}, DType::f64)),
        readback(backend, numbers.view().bytes()) {
    schedule = {parts.settings.schedule, parts.settings.learning_rate, parts.settings.min_rate,
                parts.plan.steps, parts.plan.warmup_steps};
    evaluation_tokens = parts.plan.largest_batch;
    backend.fill_zero(numbers);
    parts.model->prepare_positions(parts.plan.max_length, parts.rope_linear_factor);
    for (const auto* rows : {parts.train_rows, parts.evaluation_rows}) {
      for (const TokenRow& row : *rows) longest_row = std::max(longest_row, std::ssize(row.ids));
    }
    try {
      use_shape(shape_of_step(planned(), parts.shape_changes, 1));
    } catch (const Error& error) {
      if (error.code() != ErrorCode::out_of_memory) throw;  // of that the first step will tell again
    }
  }

  StepShape planned() const { return {parts.plan.largest_batch, parts.plan.recomputed_layers}; }
  void use_shape(const StepShape& wanted);
  TensorView sums() const { return numbers.view().row_range(0, sums_count); }
  TensorView weights() const { return numbers.view().row_range(weights_at, 1); }
  TensorView outcome() const { return numbers.view().row_range(outcome_at, outcome_count); }
  bool measures_norms(std::int64_t step) const {
    return parts.norms_every > 0 && step % parts.norms_every == 0;
  }
  TensorView norms() const {
    TensorView view = numbers.view().row_range(numbers_count, optimizer.part_count() * norms_count);
    view.shape = {optimizer.part_count(), norms_count};
    return view;
  }
  std::int64_t given() const { return done + (flying ? 1 : 0); }  ///< steps whose update the device has

  void update(const StepReport& report);
  void take_outcome(StepReport& report);

  Parts parts;
  Backend& backend;
  StepShape shape;  ///< of the transformer
  std::unique_ptr<Transformer> transformer;
  AdapterOptimizer optimizer;
  BatchStream stream;
  Schedule schedule;
  LossScale scale;  ///< changes in f16 only
  Tensor gradients, numbers;
  Readback readback;
  std::optional<StepReport> begun, flying;  ///< what is known of a step before its outcome
  std::int64_t done = 0, tokens = 0, skipped = 0;
  std::int64_t evaluation_tokens = 0;  ///< of a group; fewer once memory was short
  std::int64_t longest_row = 1;
};

void Trainer::Impl::use_shape(const StepShape& wanted) {
  if (transformer && wanted == shape) return;
  transformer.reset();  // two arenas at once are what there is no memory for
  shape = wanted;
  transformer = std::make_unique<Transformer>(*parts.model, parts.adapter, transformer_options(parts, shape));
}

void Trainer::Impl::update(const StepReport& report) {
  AdamStep adam;
  adam.learning_rate = static_cast<float>(report.learning_rate);
  adam.weight_decay = static_cast<float>(parts.settings.weight_decay);
  adam.step = report.step;
  adam.gradient_scale = static_cast<float>(1 / report.loss_scale);
  optimizer.step(gradients, adam, static_cast<float>(parts.settings.max_grad_norm),
                 numbers.view().row_range(0, 1), outcome(),
                 measures_norms(report.step) ? norms() : TensorView{});
  transformer->adapter_changed();
  backend.sum_of_squares(parts.adapter->parameters(), weights());
  readback.start(numbers);
}

void Trainer::Impl::take_outcome(StepReport& report) {
  const double* values = readback.values<double>();
  const double* results = values + outcome_at;
  report.loss = values[0] / static_cast<double>(std::max<std::int64_t>(1, report.trained_tokens));
  report.grad_norm = results[outcome_gradient_norm];
  report.weight_norm = std::sqrt(values[weights_at]);
  report.skipped = results[outcome_skipped] != 0;
  skipped = static_cast<std::int64_t>(results[outcome_skipped_steps]);
  if (measures_norms(report.step)) report.layers = optimizer.by_layer(values + numbers_count);
  if (parts.compute == DType::f16) scale.finish(report.step, report.loss_scale, report.skipped);
  done = report.step;
  tokens += report.tokens;
}

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
  return impl_->transformer ? impl_->transformer->arena_peak_bytes() : 0;
}
TensorView Trainer::gradients() const {
  return impl_->gradients;
}

bool Trainer::begun() const {
  return impl_->begun.has_value();
}
bool Trainer::in_flight() const {
  return impl_->flying.has_value();
}

StepReport Trainer::step(const std::function<void()>& between) {
  begin_step(between);
  return finish_step(between);
}

void Trainer::begin_step(const std::function<void()>& between) {
  Impl& t = *impl_;
  if (t.begun) throw Error(ErrorCode::invalid_argument, "A step has begun already");
  t.use_shape(shape_of_step(t.planned(), t.parts.shape_changes, t.given() + 1));
  std::vector<TokenBatch> batches;
  StepReport report;
  const DrawPlace draws{t.parts.settings.seed, t.stream.epoch()};
  for (const auto& indexes :
       cut_micro_batches(*t.parts.train_rows, t.stream.step_batches(), t.shape.micro_batch_tokens)) {
    batches.push_back(
        make_batch(*t.parts.train_rows, indexes, draws_random_numbers(t.parts.settings) ? &draws : nullptr));
    report.tokens += static_cast<std::int64_t>(batches.back().ids.size());
    report.trained_tokens += batches.back().trained_tokens;
    report.rows.insert(report.rows.end(), batches.back().rows.begin(), batches.back().rows.end());
  }
  report.step = t.given() + 1;
  report.epoch = t.stream.epoch_after();
  report.learning_rate = t.schedule.rate_at(t.given());
  if (t.parts.compute == DType::f16) report.loss_scale = t.scale.of_step(report.step);
  t.readback.release();
  t.backend.fill_zero(t.gradients);
  t.backend.fill_zero(t.numbers.view().row_range(0, outcome_at));
  const auto count = static_cast<double>(std::max<std::int64_t>(1, report.trained_tokens));
  const auto grad_scale = static_cast<float>(report.loss_scale / count);
  for (const auto& batch : batches)
    t.transformer->forward_backward(batch, grad_scale, t.gradients, t.sums(), between);
  t.stream.advance();
  t.begun = std::move(report);
}

StepReport Trainer::finish_step(const std::function<void()>& between, bool look_ahead) {
  Impl& t = *impl_;
  if (!t.flying) {
    if (!t.begun) throw Error(ErrorCode::invalid_argument, "No step has begun");
    t.update(*t.begun);
    t.flying = std::exchange(t.begun, std::nullopt);
    if (look_ahead && t.flying->step < total_steps()) begin_step(between);
  }
  t.readback.wait(between);
  StepReport report = *std::exchange(t.flying, std::nullopt);
  t.take_outcome(report);
  return report;
}

void Trainer::drop_step() {
  Impl& t = *impl_;
  if (!t.begun) return;
  t.begun.reset();
  t.stream.seek(t.given());
}

Evaluation Trainer::evaluate(const std::function<void()>& between) {
  Impl& t = *impl_;
  t.use_shape(shape_of_step(t.planned(), t.parts.shape_changes, std::max<std::int64_t>(1, t.given())));
  t.evaluation_tokens = std::min(t.evaluation_tokens, t.shape.micro_batch_tokens);
  return evaluate_fitting(*t.transformer, *t.parts.evaluation_rows, t.evaluation_tokens, between);
}

void Trainer::require_finite() const {
  const Impl& t = *impl_;
  // In the place for it that each step has: a checkpoint must not fail for want of memory.
  double squares = 0;
  t.backend.fill_zero(t.weights());
  t.backend.sum_of_squares(t.parts.adapter->parameters(), t.weights());
  t.backend.download(&squares, t.weights());
  t.backend.fill_zero(t.weights());
  if (std::isfinite(squares)) return;
  throw Error(ErrorCode::numeric, "The adapter holds values that are not finite and is not saved", "",
              "Go on from an earlier checkpoint, with a lower learning-rate");
}

std::optional<StepShapeChange> Trainer::take_less_memory() {
  Impl& t = *impl_;
  drop_step();
  t.stream.seek(t.given());
  const StepShape now = shape_of_step(t.planned(), t.parts.shape_changes, t.given() + 1);
  const auto smaller = smaller_step(now, t.longest_row, t.parts.model->spec().layers);
  if (!smaller) return std::nullopt;
  t.transformer.reset();
  t.parts.shape_changes.push_back({t.given() + 1, *smaller});
  return t.parts.shape_changes.back();
}

void Trainer::save(const std::string& folder, const AdapterNotes& notes) const {
  const Impl& t = *impl_;
  if (t.flying) throw Error(ErrorCode::invalid_argument, "An update is in flight: finish the step first");
  require_finite();
  const std::vector<char> optimizer_state = t.optimizer.save();
  t.optimizer.require_finite(optimizer_state);
  CheckpointWriter writer(folder);
  t.parts.adapter->save(t.backend, writer.folder(), notes);
  writer.add_file("optimizer.bin", optimizer_state);
  Json state = {{"format", 1},
                {"step", t.done},
                {"tokens", t.tokens},
                {"skipped", t.skipped},
                {"settings", settings_to_json(t.parts.settings)}};
  if (t.parts.compute == DType::f16) {
    state["loss_scale"] = scale_json(t.scale.now());
    state["loss_scale_before"] = scale_json(t.scale.before());
  }
  const std::string text = dump_json(state, 2) + "\n";
  writer.add_file("trainer.json", {text.begin(), text.end()});
  writer.commit(t.done);
}

void Trainer::restore(const std::string& folder) {
  Impl& t = *impl_;
  verify_checkpoint(folder);
  const std::string name = folder + "/trainer.json";
  const Json state = read_json_file(name);
  if (state.contains("settings")) require_same_settings(state["settings"], t.parts.settings, folder, folder);
  const std::string bytes = read_file(folder + "/optimizer.bin");
  t.optimizer.restore({bytes.begin(), bytes.end()});
  // The saved adapter is there twice for a moment: in the place of the activations, which the next step takes
  // again. So going on never needs more memory than training did.
  t.transformer.reset();
  restore_adapter(t.backend, t.parts.model->spec(), *t.parts.adapter, folder);
  t.done = json_int(state, "step", 0, 0, INT64_MAX, name);
  t.tokens = json_int(state, "tokens", 0, 0, INT64_MAX, name);
  t.skipped = json_int(state, "skipped", 0, 0, t.done, name);
  double results[outcome_count] = {};
  results[outcome_skipped_steps] = static_cast<double>(t.skipped);
  t.backend.upload(t.outcome(), results);
  t.scale.restore(t.done, read_scale(state, "loss_scale", name),
                  read_scale(state, "loss_scale_before", name));
  t.begun.reset();
  t.flying.reset();
  t.stream.seek(t.done);
}

}  // namespace lorikeet
