// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "app/engine/settings_flags.h"
#include "core/model/compute_choice.h"
#include "core/train/adapter_settings.h"
#include "core/train/prepare.h"

namespace lorikeet {
namespace {

struct PlanOptions {
  std::string model, data, adapter;
  SettingsFlags settings;
};

Json plan_json(const Plan& plan, const PreparedData& data) {
  const MemoryPlan& memory = plan.memory;
  return {{"rows_read", data.source.report.read},
          {"rows", plan.rows},
          {"evaluation_rows", plan.evaluation_rows},
          {"refused", data.refused.size()},
          {"cut_rows", data.cut_rows},
          {"tokens", plan.tokens},
          {"trained_tokens", plan.trained_tokens},
          {"max_length", plan.max_length},
          {"steps_per_epoch", plan.steps_per_epoch},
          {"steps", plan.steps},
          {"warmup_steps", plan.warmup_steps},
          {"eval_every", plan.eval_every},
          {"save_every", plan.save_every},
          {"adapter_parameters", plan.adapter_parameters},
          {"recomputed_layers", plan.recomputed_layers},
          {"memory",
           {{"base_weights", memory.base_weights},
            {"adapter", memory.adapter},
            {"gradients", memory.gradients},
            {"optimizer", memory.optimizer},
            {"activations", memory.activations},
            {"dequantization", memory.dequantization},
            {"logits", memory.logits},
            {"workspace", memory.workspace},
            {"samples", memory.samples},
            {"total", memory.total()}}},
          {"host_bytes", plan.host_bytes},
          {"disk_bytes", plan.disk_bytes},
          {"operations", plan.operations},
          {"seconds", nullptr},
          {"fits", plan.fits},
          {"why_not", plan.why_not},
          {"ways_out", plan.ways_out},
          {"warnings", plan.warnings}};
}

std::string plan_text(const Plan& plan, const PreparedData& data) {
  const auto mb = [](std::uint64_t bytes) {
    return fmt::format("{:10.1f} MB", static_cast<double>(bytes) / 1e6);
  };
  std::string text =
      fmt::format("{} rows read, {} trained, {} for evaluation, {} refused, {} cut at {} tokens\n",
                  data.source.report.read, plan.rows, plan.evaluation_rows, data.refused.size(),
                  data.cut_rows, plan.max_length);
  text += fmt::format("{} tokens an epoch, {} of them trained\n", plan.tokens, plan.trained_tokens);
  text +=
      fmt::format("{} steps ({} an epoch), {} of them warm-up; evaluation every {}, checkpoint every {}\n",
                  plan.steps, plan.steps_per_epoch, plan.warmup_steps, plan.eval_every, plan.save_every);
  text += fmt::format("{} adapter parameters, {} layers recomputed\n", plan.adapter_parameters,
                      plan.recomputed_layers);
  const MemoryPlan& memory = plan.memory;
  text += "Memory\n";
  const std::pair<const char*, std::uint64_t> kinds[] = {{"base weights", memory.base_weights},
                                                         {"adapter", memory.adapter},
                                                         {"gradients", memory.gradients},
                                                         {"optimizer", memory.optimizer},
                                                         {"activations", memory.activations},
                                                         {"dequantised", memory.dequantization},
                                                         {"logits", memory.logits},
                                                         {"workspace", memory.workspace},
                                                         {"samples", memory.samples},
                                                         {"in all", memory.total()}};
  for (const auto& [kind, bytes] : kinds) text += fmt::format("  {:13}", kind) + mb(bytes) + "\n";
  if (plan.host_bytes > 0) text += "Host, locked   " + mb(plan.host_bytes) + "\n";
  text += "Disk           " + mb(plan.disk_bytes) + "\n";
  for (const auto& warning : plan.warnings) text += "Look: " + warning + "\n";
  text += plan.fits ? "It fits.\n" : "It does not fit: " + plan.why_not + ". " + plan.ways_out + ".\n";
  return text;
}

int run_plan(const CommandContext& context, const PlanOptions& options) {
  const std::string model = resolve_model(options.model, context.home);
  const ModelSpec spec = read_model_spec(model);
  const Settings settings =
      options.settings.apply(options.adapter.empty() ? Settings{} : carried_settings(spec, options.adapter));
  if (!options.adapter.empty()) check_carried(spec, options.adapter, settings);
  const auto backend = make_backend_for(settings);
  require_model(spec, *backend);
  const DType compute = resolved_compute(settings, *backend);
  const PreparedData data = prepare_data(model, spec, options.data, options.adapter, settings, context.stop);
  const Plan plan = make_plan(spec, data.shape, settings, plan_device(*backend, compute));
  if (context.json)
    print_json(plan_json(plan, data));
  else
    print_text(plan_text(plan, data));
  return exit_done;
}

}  // namespace

void add_plan(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "plan", "What a training run would take: steps, tokens, memory, disk");
  auto options = std::make_shared<PlanOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name")->required();
  command->add_option("--data", options->data, "Alpaca JSON or JSONL file")->required();
  command->add_option("--adapter", options->adapter, "Go on from this adapter");
  options->settings.add_to(*command);
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_plan(context, *options); }; });
}

}  // namespace lorikeet
