// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "app/engine/settings_flags.h"
#include "app/engine/terminal_progress.h"
#include "core/model/compute_choice.h"
#include "core/train/adapter_settings.h"
#include "core/train/gpu_models.h"
#include "core/train/plan_fit.h"
#include "core/train/prepare.h"

namespace lorikeet {
namespace {

struct PlanOptions {
  std::string model, data, adapter, gpu;
  bool fit = false;
  SettingsFlags settings;
};

/// The kinds of memory with their names in JSON and for people.
struct Kind {
  const char *key, *name;
  std::uint64_t MemoryPlan::*bytes;
};
constexpr Kind kinds[] = {{"base_weights", "base weights", &MemoryPlan::base_weights},
                          {"adapter", "adapter", &MemoryPlan::adapter},
                          {"gradients", "gradients", &MemoryPlan::gradients},
                          {"optimizer", "optimizer", &MemoryPlan::optimizer},
                          {"activations", "activations", &MemoryPlan::activations},
                          {"dequantization", "dequantised", &MemoryPlan::dequantization},
                          {"logits", "logits", &MemoryPlan::logits},
                          {"workspace", "workspace", &MemoryPlan::workspace},
                          {"samples", "sample answers", &MemoryPlan::samples},
                          {"host", "program, rows", &MemoryPlan::host}};

Json memory_json(const MemoryPlan& memory) {
  Json json = Json::object();
  for (const Kind& kind : kinds) json[kind.key] = memory.*kind.bytes;
  json["host_is_apart"] = memory.host_is_apart;
  json["total"] = memory.total();
  return json;
}

Json option_json(const FitOption& option) {
  Json changes = Json::array();
  for (const SettingChange& change : option.changes)
    changes.push_back({{"key", change.key}, {"from", change.from}, {"to", change.to}});
  return {{"changes", changes},
          {"flags", as_flags(option.changes)},
          {"what", option.what},
          {"fits", option.plan.fits},
          {"total", option.plan.memory.total()},
          {"saved_bytes", option.saved_bytes},
          {"time_ratio", option.time_ratio},
          {"recomputed_layers", option.plan.recomputed_layers},
          {"steps", option.plan.steps},
          {"harm", option.harm}};
}

Json fit_json(const FitAdvice& advice) {
  Json options = Json::array();
  for (const FitOption& option : advice.single) options.push_back(option_json(option));
  return {{"needed", !advice.now.fits},
          {"cheapest", advice.cheapest ? option_json(*advice.cheapest) : Json()},
          {"options", options}};
}

Json plan_json(const Plan& plan, const PreparedData& data, std::uint64_t limit) {
  return {{"rows_read", data.source.report.read},
          {"rows", plan.rows},
          {"evaluation_rows", plan.evaluation_rows},
          {"refused", data.refused.size()},
          {"cut_rows", data.cut_rows},
          {"tokens", plan.tokens},
          {"trained_tokens", plan.trained_tokens},
          {"max_length", plan.max_length},
          {"largest_batch", plan.largest_batch},
          {"steps_per_epoch", plan.steps_per_epoch},
          {"steps", plan.steps},
          {"warmup_steps", plan.warmup_steps},
          {"eval_every", plan.eval_every},
          {"save_every", plan.save_every},
          {"adapter_parameters", plan.adapter_parameters},
          {"recomputed_layers", plan.recomputed_layers},
          {"memory", memory_json(plan.memory)},
          {"memory_limit", limit},
          {"host_bytes", plan.host_bytes},
          {"disk_bytes", plan.disk_bytes},
          {"checkpoint_bytes", plan.checkpoint_bytes},
          {"export_bytes", plan.export_bytes},
          {"operations", plan.operations},
          {"seconds", nullptr},
          {"estimated_seconds", plan.estimated_seconds > 0 ? Json(plan.estimated_seconds) : Json()},
          {"fits", plan.fits},
          {"why_not", plan.why_not},
          {"ways_out", plan.ways_out},
          {"warnings", plan.warnings}};
}

std::string megabytes(std::uint64_t bytes) {
  return fmt::format("{:10.1f} MB", static_cast<double>(bytes) / 1e6);
}

std::string memory_text(const Plan& plan, std::uint64_t limit) {
  const MemoryPlan& memory = plan.memory;
  std::string text = "Memory\n";
  for (const Kind& kind : kinds) {
    const std::uint64_t bytes = memory.*kind.bytes;
    if (kind.bytes == &MemoryPlan::host && memory.host_is_apart) continue;
    if (bytes > 0) text += fmt::format("  {:15}", kind.name) + megabytes(bytes) + "\n";
  }
  text += fmt::format("  {:15}", "in all") + megabytes(memory.total()) +
          fmt::format(" of {:.1f} MB allowed\n", static_cast<double>(limit) / 1e6);
  if (memory.host_is_apart) {
    text += "  in the computer's memory" + megabytes(memory.host + plan.host_bytes) + "\n";
  }
  return text;
}

std::string plan_text(const Plan& plan, const PreparedData& data, std::uint64_t limit) {
  std::string text =
      fmt::format("{} rows read, {} trained, {} for evaluation, {} refused, {} cut at {} tokens\n",
                  data.source.report.read, plan.rows, plan.evaluation_rows, data.refused.size(),
                  data.cut_rows, plan.max_length);
  text += fmt::format("{} tokens an epoch, {} of them trained\n", plan.tokens, plan.trained_tokens);
  text +=
      fmt::format("{} steps ({} an epoch), {} of them warm-up; evaluation every {}, checkpoint every {}\n",
                  plan.steps, plan.steps_per_epoch, plan.warmup_steps, plan.eval_every, plan.save_every);
  text += fmt::format("{} adapter parameters, {} layers recomputed, at most {} tokens at once\n",
                      plan.adapter_parameters, plan.recomputed_layers, plan.largest_batch);
  text += memory_text(plan, limit);
  text += fmt::format("{:17}", "Disk") + megabytes(plan.disk_bytes) + "\n";
  text += fmt::format("{:17}", "A merged export") + megabytes(plan.export_bytes) + "\n";
  if (plan.estimated_seconds > 0) {
    text += "Time: about " + duration_text(plan.estimated_seconds) +
            ", an estimate from what such a device can do; a run says it after its first steps\n";
  }
  for (const auto& warning : plan.warnings) text += "Look: " + warning + "\n";
  text += plan.fits ? "It fits.\n" : "It does not fit: " + plan.why_not + ". " + plan.ways_out + ".\n";
  return text;
}

std::string option_text(const FitOption& option) {
  return fmt::format("{:.2f} GB, {:.2f} GB less, time x {:.2f}, {} layers recomputed{}",
                     static_cast<double>(option.plan.memory.total()) / 1e9,
                     static_cast<double>(option.saved_bytes) / 1e9, option.time_ratio,
                     option.plan.recomputed_layers, option.plan.fits ? "" : "; does not fit by itself");
}

std::string fit_text(const FitAdvice& advice) {
  std::string text;
  if (advice.cheapest) {
    text +=
        "Make it fit: " + as_flags(advice.cheapest->changes) + "\n  " + option_text(*advice.cheapest) + "\n";
  } else if (!advice.now.fits) {
    text += "No settings make it fit: a smaller model or more memory is needed.\n";
  }
  if (!advice.single.empty()) text += "Each change by itself\n";
  for (const FitOption& option : advice.single)
    text += "  " + as_flags(option.changes) + "\n    " + option.what + ": " + option_text(option) + "\n";
  return text;
}

/// The device that is planned for: this machine's, or one that is not there.
struct Target {
  PlanDevice device;
  std::string text;
};

Target target_of(const PlanOptions& options, const ModelSpec& spec, const Settings& settings) {
  if (options.gpu.empty()) {
    const auto backend = make_backend_for(settings);
    require_model(spec, *backend);
    return {plan_device(*backend, resolved_compute(settings, *backend)), {}};
  }
  const GpuModel& gpu = find_gpu(options.gpu);
  const PlanDevice device = plan_device(gpu, settings);
  const auto gb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  const std::uint64_t memory = static_cast<std::uint64_t>(gpu.memory_mib) << 20;
  return {device,
          fmt::format("{}, compute {}.{}: {:.2f} GB, of which {:.2f} are the driver's and the kernels' and "
                      "{:.2f} stay in reserve\n",
                      gpu.name, gpu.compute_capability / 10, gpu.compute_capability % 10, gb(memory),
                      gb(gpu_context_bytes), gb(memory - gpu_context_bytes - device.memory_limit_bytes))};
}

int run_plan(const CommandContext& context, const PlanOptions& options) {
  const std::string model = resolve_model(options.model, context.home);
  const ModelSpec spec = read_model_spec(model);
  const Settings settings =
      options.settings.apply(options.adapter.empty() ? Settings{} : carried_settings(spec, options.adapter));
  if (!options.adapter.empty()) check_carried(spec, options.adapter, settings);
  const Target target = target_of(options, spec, settings);
  const PreparedData data = prepare_data(model, spec, options.data, options.adapter, settings, context.stop);
  const Plan plan = make_plan(spec, data.shape, settings, target.device);
  const std::uint64_t limit = target.device.memory_limit_bytes;
  std::optional<FitAdvice> advice;
  if (options.fit) {
    advice =
        make_it_fit(spec, {&data.train, &data.evaluation, data.shape.sample_tokens}, settings, target.device);
  }
  if (context.json) {
    Json json = plan_json(plan, data, limit);
    if (!options.gpu.empty()) json["gpu"] = find_gpu(options.gpu).name;
    if (advice) json["fit"] = fit_json(*advice);
    print_json(json);
  } else {
    print_text(target.text + plan_text(plan, data, limit) + (advice ? fit_text(*advice) : std::string()));
  }
  return exit_done;
}

}  // namespace

void add_plan(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "plan", "What a training run would take: steps, tokens, memory, disk, time");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name")->required();
  command->add_option("--data", options->data, "Alpaca JSON or JSONL file")->required();
  command->add_option("--adapter", options->adapter, "Go on from this adapter");
  command->add_option(
      "--gpu", options->gpu,
      "Plan for a card that is not here: 8GB, 12GB, 16GB, 24GB, 80GB or a name such as \"RTX 3060 12GB\"");
  command->add_flag("--fit", options->fit, "Say which settings make it fit at the least cost");
  options->settings.add_to(*command);
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_plan(context, *options); }; });
}

}  // namespace lorikeet
