// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "app/engine/settings_flags.h"
#include "core/model/adapter_start.h"
#include "core/model/compute_choice.h"
#include "core/model/lora_adapter.h"
#include "core/train/evaluate.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t tokens_at_once = 1024;

struct EvalOptions {
  std::string model, data, adapter;
  SettingsFlags settings;
};

int run_eval(const CommandContext& context, const EvalOptions& options) {
  Settings settings = options.settings.apply({});
  settings.eval_fraction = 0;  // every row of the file is evaluated
  settings.eval_data.clear();
  const std::string model_path = resolve_model(options.model, context.home);
  const ModelSpec spec = read_model_spec(model_path);
  const auto backend = make_backend_for(settings);  // said before minutes are spent on the data
  const DType compute = resolved_compute(settings, *backend);
  const std::string adapter_path =
      options.adapter.empty() ? std::string() : resolve_adapter(options.adapter, context.home);
  const PreparedData data =
      prepare_data(model_path, spec, options.data, adapter_path, settings, context.stop);
  BaseModel model = load_base_model(*backend, model_path, spec, settings, compute, context.stop);
  double factor = rope_linear_factor(spec, data.max_length);
  std::unique_ptr<LoraAdapter> adapter;
  if (!adapter_path.empty()) {
    adapter = std::make_unique<LoraAdapter>(LoraAdapter::load(*backend, spec, adapter_path));
    factor = std::max(factor, adapter->notes().rope_linear_factor);
    require_fitting_base(adapter->notes(), settings.quantization, options.adapter);
  }
  Transformer::Options transformer_options;
  transformer_options.compute = compute;
  transformer_options.max_tokens = std::max(tokens_at_once, data.shape.longest_row);
  transformer_options.keep.assign(static_cast<std::size_t>(spec.layers), false);
  model.prepare_positions(std::max(data.max_length, data.shape.longest_row), factor);
  Transformer transformer(model, adapter.get(), transformer_options);
  const Evaluation result = evaluate_rows(transformer, data.train, transformer_options.max_tokens, [&] {
    if (context.stop.stop_requested()) throw Error(ErrorCode::cancelled, "The evaluation was stopped");
  });
  if (context.json) {
    print_json({{"loss", result.loss},
                {"perplexity", result.perplexity},
                {"accuracy", result.accuracy},
                {"tokens", result.tokens},
                {"rows", data.train.size()},
                {"refused", data.refused.size()}});
  } else {
    print_text(fmt::format("loss {:.4f}, perplexity {:.3f}, accuracy {:.1f} %, {} tokens of {} rows\n",
                           result.loss, result.perplexity, 100 * result.accuracy, result.tokens,
                           data.train.size()));
  }
  return exit_done;
}

}  // namespace

void add_eval(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "eval", "Loss of a model, with or without an adapter, on a data set");
  auto options = std::make_shared<EvalOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name")->required();
  command->add_option("--data", options->data, "Alpaca JSON or JSONL file")->required();
  command->add_option("--adapter", options->adapter, "Adapter folder, ours or PEFT's");
  options->settings.add_to(*command);
  command->callback(
      [&context, options] { context.action = [&context, options] { return run_eval(context, *options); }; });
}

}  // namespace lorikeet
