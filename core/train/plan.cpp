// SPDX-License-Identifier: Apache-2.0
#include "core/train/plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "core/data/packing.h"
#include "core/model/activation_plan.h"
#include "core/model/session_plan.h"
#include "core/train/epoch_batches.h"
#include "core/train/operations.h"
#include "core/train/plan_time.h"
#include "core/train/plan_work.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t short_run_steps = 20;  ///< below this an adapter has hardly learnt anything

std::uint64_t divide_up(std::uint64_t value, std::uint64_t by) {
  return (value + by - 1) / by;
}

/// A frozen matrix (out,in) as the setting keeps it (kernels/weight.h).
std::uint64_t linear_bytes(const std::string& quantization, std::uint64_t out, std::uint64_t in,
                           std::uint64_t wide_bytes) {
  const std::uint64_t elements = out * in;
  if (quantization == "none") return elements * wide_bytes;
  if (quantization == "int8") return elements + 4 * out;
  const std::uint64_t blocks = divide_up(elements, 64);
  const std::uint64_t scales =
      quantization == "nf4-single" ? 4 * blocks : blocks + 4 * divide_up(blocks, 256);
  return divide_up(elements, 2) + scales;
}

/// Norms and biases, which stay in f32.
std::uint64_t small_numbers(const ModelSpec& spec) {
  std::int64_t biases = 0;
  for (const auto& module : linear_modules(spec)) biases += module.bias ? module.out : 0;
  std::int64_t norms = 0;
  for (const auto& module : norm_modules(spec)) norms += module.width;
  const std::int64_t of_norm = spec.norm == NormKind::layer ? 2 : 1;
  return static_cast<std::uint64_t>(spec.layers * (biases + of_norm * norms) + of_norm * spec.hidden_size +
                                    (spec.head_bias ? spec.vocab_size : 0) +
                                    (spec.embedding_scale == 1 ? 0 : spec.hidden_size));
}

}  // namespace

/// Bytes of the resident base: linears as the settings say, embedding and head in the wide type, norms in
/// f32.
std::uint64_t base_bytes(const ModelSpec& spec, const Settings& settings, std::uint64_t wide_bytes) {
  std::uint64_t bytes = 0;
  for (const auto& module : linear_modules(spec)) {
    bytes += linear_bytes(settings.quantization, static_cast<std::uint64_t>(module.out),
                          static_cast<std::uint64_t>(module.in), wide_bytes);
  }
  bytes *= static_cast<std::uint64_t>(spec.layers);
  const auto table = static_cast<std::uint64_t>(spec.vocab_size * spec.hidden_size);
  bytes += table * wide_bytes * (spec.tied_head ? 1 : 2);
  bytes += 4 * small_numbers(spec);
  std::int64_t positions = resolved_max_length(settings, spec);
  if (!settings.sample_prompts.empty()) positions = std::max(positions, sample_context(spec));
  bytes += 4 * static_cast<std::uint64_t>(positions * spec.rope.rotary_dim);  // cosine and sine
  return bytes;
}

namespace {

std::uint64_t optimizer_bytes(const ModelSpec& spec, const Settings& settings) {
  std::uint64_t bytes = 0;
  for (const auto& module : adapted_modules(spec, settings.targets)) {
    for (const std::int64_t count :
         {module.in * settings.rank, module.out * settings.rank, settings.dora ? module.out : 0}) {
      const auto elements = static_cast<std::uint64_t>(count);
      const bool wide = settings.optimizer == "adamw" || elements < 4096;  // small tensors keep f32 state
      bytes += wide ? 8 * elements : 2 * elements + 8 * divide_up(elements, 256);
    }
  }
  return bytes * static_cast<std::uint64_t>(spec.layers);
}

/// Norms and gains of DoRA's magnitudes (DoraState).
std::uint64_t dora_bytes(const ModelSpec& spec, const Settings& settings) {
  if (!settings.dora) return 0;
  std::int64_t outputs = 0;
  for (const auto& module : adapted_modules(spec, settings.targets)) outputs += module.out;
  return 8 * static_cast<std::uint64_t>(outputs * spec.layers);
}

/// Page-locked memory for the inputs of layers that are recomputed (offloaded_inputs.h).
std::uint64_t offloaded_bytes(const ModelSpec& spec, const ActivationShape& shape) {
  if (!shape.offload) return 0;
  const auto layers = static_cast<std::uint64_t>(std::count(shape.keep.begin(), shape.keep.end(), false));
  return layers * static_cast<std::uint64_t>(shape.most_tokens * spec.hidden_size) * size_of(shape.compute);
}

std::string gigabytes(std::uint64_t bytes) {
  const auto tenths = static_cast<std::uint64_t>(std::llround(static_cast<double>(bytes) / 1e7));
  return std::to_string(tenths / 100) + "." + std::to_string(tenths % 100 / 10) +
         std::to_string(tenths % 10) + " GB";
}

void plan_steps(Plan& plan, const Settings& settings) {
  const std::int64_t per_step = settings.accumulation;
  plan.steps_per_epoch = (plan.micro_batches_per_epoch + per_step - 1) / per_step;
  plan.steps = settings.max_steps > 0
                   ? settings.max_steps
                   : static_cast<std::int64_t>(
                         std::ceil(settings.epochs * static_cast<double>(plan.steps_per_epoch) - 1e-9));
  plan.warmup_steps = settings.warmup_steps > 0
                          ? settings.warmup_steps
                          : static_cast<std::int64_t>(
                                std::ceil(static_cast<double>(plan.steps) * settings.warmup_ratio - 1e-9));
  const std::int64_t tenth = std::max<std::int64_t>(10, plan.steps / 10);
  plan.eval_every = settings.eval_every > 0 ? settings.eval_every : tenth;
  plan.save_every = settings.save_every > 0 ? settings.save_every : tenth;
}

/// Keeps as many layers as fit and fills in the memory.
void plan_memory(Plan& plan, const ModelSpec& spec, const DataShape& data, const Settings& settings,
                 const PlanDevice& device) {
  const std::uint64_t limit = device.memory_limit_bytes;
  MemoryPlan& memory = plan.memory;
  memory.base_weights = base_bytes(spec, settings, static_cast<std::uint64_t>(device.compute_bytes));
  memory.adapter = static_cast<std::uint64_t>(plan.adapter_parameters) * 4;
  memory.gradients = memory.adapter;
  memory.adapter += dora_bytes(spec, settings);
  memory.optimizer = optimizer_bytes(spec, settings);
  add_work(memory, spec, data, settings, device,
           activation_shape(spec, settings, device, plan.largest_batch, 0));
  const auto fits_with = [&](std::int64_t recomputed) {
    plan.recomputed_layers = recomputed;
    memory.activations =
        activation_bytes(spec, activation_shape(spec, settings, device, plan.largest_batch, recomputed));
    return memory.total() <= limit;
  };
  // More recomputed layers never take more memory: the fewest that fit, or all that there are.
  std::int64_t low = 0, high = std::max<std::int64_t>(0, spec.layers - 1);
  while (low < high && !fits_with(low)) {
    const std::int64_t middle = low + (high - low) / 2;
    if (middle > low && fits_with(middle))
      high = middle;
    else
      low = middle + 1;
  }
  fits_with(low);
  plan.host_bytes = offloaded_bytes(
      spec, activation_shape(spec, settings, device, plan.largest_batch, plan.recomputed_layers));
  plan.fits = memory.total() <= limit;
  if (!plan.fits) {
    plan.why_not =
        gigabytes(memory.total()) + " of memory are needed and " + gigabytes(limit) + " are allowed";
  } else if (device.host_free_bytes > 0 && plan.host_bytes > device.host_free_bytes) {
    plan.fits = false;
    plan.why_not = "offload needs " + gigabytes(plan.host_bytes) + " of the host's memory and " +
                   gigabytes(device.host_free_bytes) + " are free";
  }
}

/// Checkpoints that are on the disk together: those kept, the best evaluation's beyond them, and one more,
/// since the oldest is removed only after the newest was read back.
std::uint64_t checkpoints_at_once(const Plan& plan, const Settings& settings) {
  const auto count = [&](std::int64_t every) { return (plan.steps + every - 1) / every; };
  const bool evaluates = plan.evaluation_rows > 0;
  const std::int64_t written = count(plan.save_every) + (evaluates ? count(plan.eval_every) : 0);
  return static_cast<std::uint64_t>(std::min(settings.keep_checkpoints + (evaluates ? 2 : 1), written));
}

std::int64_t sum_of_largest(std::vector<std::int64_t> values, std::int64_t count) {
  std::sort(values.begin(), values.end(), std::greater<>());
  const auto taken = std::min<std::ptrdiff_t>(std::ssize(values), count);
  return std::accumulate(values.begin(), values.begin() + taken, std::int64_t{0});
}

}  // namespace

std::int64_t sample_context(const ModelSpec& spec) {
  return std::min<std::int64_t>(1024, spec.context);
}

std::int64_t resolved_max_length(const Settings& settings, const ModelSpec& spec) {
  return settings.max_length > 0 ? settings.max_length : std::min<std::int64_t>(1024, spec.context);
}

std::vector<LinearModule> adapted_modules(const ModelSpec& spec, const std::string& targets) {
  const auto all = linear_modules(spec);
  if (targets == "all-linear") return all;
  std::vector<LinearModule> chosen;
  std::vector<std::string> names;
  for (std::size_t from = 0; from <= targets.size();) {
    const std::size_t end = std::min(targets.find(',', from), targets.size());
    std::string name = targets.substr(from, end - from);
    name.erase(0, name.find_first_not_of(' '));
    name.erase(name.find_last_not_of(' ') + 1);
    names.push_back(name);
    from = end + 1;
  }
  const auto is_named = [](const LinearModule& module, const std::string& name) {
    return module.name == name || module.name.ends_with("." + name);
  };
  std::string known;
  for (const auto& module : all)
    known += (known.empty() ? "" : ",") + module.name.substr(module.name.rfind('.') + 1);
  for (const auto& name : names) {
    if (std::none_of(all.begin(), all.end(), [&](const auto& module) { return is_named(module, name); })) {
      throw Error(ErrorCode::invalid_argument, "The model has no linear layer named \"" + name + "\"",
                  "targets", "Use all-linear, or some of " + known);
    }
  }
  for (const auto& module : all) {
    if (std::any_of(names.begin(), names.end(), [&](const auto& name) { return is_named(module, name); })) {
      chosen.push_back(module);
    }
  }
  return chosen;
}

std::int64_t adapter_parameters(const ModelSpec& spec, const Settings& settings) {
  std::int64_t count = 0;
  for (const auto& module : adapted_modules(spec, settings.targets))
    count += settings.rank * (module.in + module.out) + (settings.dora ? module.out : 0);
  return count * spec.layers;
}

TokenCounts DataShape::counts() const {
  return {static_cast<double>(tokens), pairs, static_cast<double>(trained_tokens),
          static_cast<double>(micro_batches_per_epoch)};
}

std::int64_t largest_batch_tokens(const DataShape& data, const Settings& settings, std::int64_t max_length) {
  std::int64_t batch = data.longest_rows_sum;
  if (settings.packing) {
    batch = std::min(settings.batch_size * max_length, data.tokens);
    if (data.fullest_bins_sum > 0) batch = std::min(batch, data.fullest_bins_sum);
  }
  return std::max({batch, data.longest_row, std::int64_t{1}});
}

DataShape data_shape(const std::vector<TokenRow>& train, const std::vector<TokenRow>& evaluation,
                     const Settings& settings, std::int64_t max_length) {
  DataShape shape;
  shape.rows = static_cast<std::int64_t>(train.size());
  shape.evaluation_rows = static_cast<std::int64_t>(evaluation.size());
  std::vector<std::int64_t> lengths;
  for (const auto& row : train) {
    lengths.push_back(static_cast<std::int64_t>(row.ids.size()));
    shape.tokens += lengths.back();
    shape.pairs += static_cast<double>(lengths.back()) * static_cast<double>(lengths.back());
    shape.trained_tokens += row.trained_tokens;
    shape.longest_row = std::max(shape.longest_row, lengths.back());
  }
  for (const auto& row : evaluation) {
    const auto length = static_cast<std::int64_t>(row.ids.size());
    shape.evaluation_tokens += length;
    shape.longest_row = std::max(shape.longest_row, length);
  }
  shape.longest_rows_sum = sum_of_largest(lengths, settings.batch_size);
  const auto batches = epoch_batches(train, settings, 0, max_length);
  shape.micro_batches_per_epoch = static_cast<std::int64_t>(batches.micro_batches.size());
  if (settings.packing) {
    Settings one_bin = settings;
    one_bin.batch_size = 1;
    std::vector<std::int64_t> bins;
    for (const auto& bin : epoch_batches(train, one_bin, 0, max_length).micro_batches) {
      bins.push_back(0);
      for (const std::int64_t row : bin) bins.back() += std::ssize(train[static_cast<std::size_t>(row)].ids);
    }
    shape.fullest_bins_sum = sum_of_largest(std::move(bins), settings.batch_size);
  }
  return shape;
}

std::vector<bool> kept_layers(std::int64_t layers, std::int64_t recomputed) {
  std::vector<bool> keep(static_cast<std::size_t>(layers), true);
  if (recomputed <= 0) return keep;
  for (std::int64_t layer = 0; layer < std::min(recomputed, layers); ++layer)
    keep[static_cast<std::size_t>(layer)] = false;
  keep.back() = false;
  return keep;
}

ActivationShape activation_shape(const ModelSpec& spec, const Settings& settings, const PlanDevice& device,
                                 std::int64_t largest_batch, std::int64_t recomputed_layers) {
  ActivationShape shape;
  if (device.is_cuda) shape.device = cuda_layout;
  shape.most_tokens = padded_tokens(shape.device, largest_batch);
  shape.tokens = shape.most_tokens;
  shape.compute = device.compute_bytes == 4 ? DType::f32 : DType::bf16;
  shape.offload = settings.offload;
  shape.draws = draws_random_numbers(settings);
  shape.drops = settings.dropout != 0;
  shape.dora = settings.dora;
  shape.keep = kept_layers(spec.layers, recomputed_layers);
  for (const auto& module : adapted_modules(spec, settings.targets)) {
    for (const LinearRows& rows : module.rows) shape.ranks[rows.role] = settings.rank;
  }
  return shape;
}

bool fits_in_memory(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                    const PlanDevice& device) {
  Plan plan;
  plan.adapter_parameters = adapter_parameters(spec, settings);
  plan.largest_batch = largest_batch_tokens(data, settings, resolved_max_length(settings, spec));
  plan_memory(plan, spec, data, settings, device);
  return plan.fits;
}

void plan_step_shape(Plan& plan, const ModelSpec& spec, const DataShape& data, const Settings& settings,
                     const PlanDevice& device, const StepShape& shape) {
  plan.largest_batch = shape.micro_batch_tokens;
  plan.recomputed_layers = shape.recomputed_layers;
  add_work(plan.memory, spec, data, settings, device,
           activation_shape(spec, settings, device, plan.largest_batch, 0));
  const ActivationShape layout =
      activation_shape(spec, settings, device, plan.largest_batch, plan.recomputed_layers);
  plan.memory.activations = activation_bytes(spec, layout);
  plan.host_bytes = offloaded_bytes(spec, layout);
}

Plan make_plan(const ModelSpec& spec, const DataShape& data, const Settings& settings,
               const PlanDevice& device) {
  Plan plan;
  plan.rows = data.rows;
  plan.evaluation_rows = data.evaluation_rows;
  plan.tokens = data.tokens;
  plan.trained_tokens = data.trained_tokens;
  plan.max_length = resolved_max_length(settings, spec);
  plan.micro_batches_per_epoch = data.micro_batches_per_epoch;
  plan.adapter_parameters = adapter_parameters(spec, settings);
  plan_steps(plan, settings);
  plan.largest_batch = largest_batch_tokens(data, settings, plan.max_length);
  plan_memory(plan, spec, data, settings, device);
  if (!plan.fits) plan.ways_out = ways_out(spec, data, settings, device);

  const auto adapter = static_cast<std::uint64_t>(plan.adapter_parameters) * 4;
  plan.checkpoint_bytes = adapter + plan.memory.optimizer;
  plan.disk_bytes = plan.checkpoint_bytes * checkpoints_at_once(plan, settings) +
                    adapter * (data.evaluation_rows > 0 ? 2 : 1);  // the last one and the best
  plan.export_bytes = 2 * static_cast<std::uint64_t>(spec.parameters());
  const double epochs =
      static_cast<double>(plan.steps) / static_cast<double>(std::max<std::int64_t>(1, plan.steps_per_epoch));
  plan.operations = epochs * training_operations(spec, settings, plan.recomputed_layers).of(data.counts());
  plan.estimated_seconds = estimated_seconds(spec, data, settings, device, plan);

  if (plan.steps < short_run_steps) {
    plan.warnings.push_back("Only " + std::to_string(plan.steps) + " steps: too short to learn much, " +
                            std::to_string(short_run_steps) +
                            " or more are advised; raise epochs or lower accumulation");
  }
  if (device.is_cuda && settings.memory_limit_bytes > device.memory_limit_bytes) {
    plan.warnings.push_back("memory-limit asks for " + gigabytes(settings.memory_limit_bytes) +
                            ", the GPU has " + gigabytes(device.memory_limit_bytes) +
                            " free: the plan keeps to that");
  }
  if (plan.max_length > spec.context) {
    plan.warnings.push_back("max-length " + std::to_string(plan.max_length) +
                            " is above the model's context of " + std::to_string(spec.context) +
                            ": RoPE is stretched linearly");
  }
  return plan;
}

}  // namespace lorikeet
