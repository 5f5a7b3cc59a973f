// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "app/engine/run_command.h"
#include "app/engine/settings_flags.h"
#include "core/train/adapter_settings.h"
#include "core/train/check_job.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

struct TrainOptions {
  std::string model, data, run, adapter, job, name, rehearse = "yes";
  SettingsFlags settings;
};

/// Flag, then job file, then what the adapter carries, then default (design.md §6). Paths in a job file are
/// relative to it.
Job make_job(const TrainOptions& options, const std::string& home) {
  options.settings.apply({});  // a wrong flag is said before anything is looked for on the disk
  const Json file = options.job.empty() ? Json::object() : read_json_file(options.job);
  Job job = job_from_json(file, options.job);
  if (!options.job.empty()) {
    const fs::path folder = fs::path(absolute_path(options.job)).parent_path();
    for (std::string* path : {&job.model_path, &job.data_path, &job.adapter_path}) {
      if (!path->empty() && fs::path(*path).is_relative() && fs::exists(folder / *path))
        *path = (folder / *path).string();
    }
  }
  if (!options.model.empty()) job.model_path = options.model;
  if (!options.data.empty()) job.data_path = options.data;
  if (!options.adapter.empty()) job.adapter_path = options.adapter;
  if (!options.name.empty()) job.name = options.name;
  if (job.model_path.empty()) throw Error(ErrorCode::invalid_argument, "A base model is needed", "--model");
  if (job.data_path.empty()) throw Error(ErrorCode::invalid_argument, "A data set is needed", "--data");
  job.model_path = resolve_model(job.model_path, home);
  job.data_path = absolute_path(job.data_path);
  if (!job.adapter_path.empty()) {
    job.adapter_path = resolve_adapter(job.adapter_path, home);
    const Settings carried = carried_settings(read_model_spec(job.model_path), job.adapter_path);
    job.settings = job_from_json(file, options.job, carried).settings;
  }
  job.settings = options.settings.apply(job.settings);
  if (!job.settings.eval_data.empty()) job.settings.eval_data = absolute_path(job.settings.eval_data);
  if (job.name.empty()) job.name = fs::path(job.data_path).stem().string();
  return job;
}

int start_training(const CommandContext& context, const TrainOptions& options) {
  const Job job = make_job(options, context.home);
  const std::string path = absolute_path(options.run);
  // A run that cannot begin leaves nothing. Where the studio has made the folder, it looks there for what was
  // wrong.
  if (!fs::exists(path + "/job.json")) check_job(job, job.adapter_path);
  RunFolder run = RunFolder::create(path, job);
  const RehearsalMode rehearsal = options.rehearse == "only" ? RehearsalMode::only
                                  : options.rehearse == "no" ? RehearsalMode::no
                                                             : RehearsalMode::fresh;
  return run_in_terminal(run, false, context, {}, rehearsal);
}

}  // namespace

void add_train(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "train", "Train an adapter; everything lies in the run folder afterwards");
  auto options = std::make_shared<TrainOptions>();
  command->add_option("--model", options->model, "Folder, GGUF file or name");
  command->add_option("--data", options->data, "Alpaca JSON or JSONL file");
  command->add_option("--run", options->run, "Folder of the run, made if it is not there")->required();
  command->add_option("--adapter", options->adapter, "Go on from this adapter, ours or PEFT's");
  command->add_option("--job", options->job, "job.json of another run, or a recipe");
  command->add_option("--name", options->name, "Name for people");
  command
      ->add_option(
          "--rehearse", options->rehearse,
          "Do everything once before the first step (the longest batch, an evaluation, a checkpoint, an "
          "export): yes, no, or only, which trains nothing")
      ->check(CLI::IsMember({"yes", "no", "only"}));
  options->settings.add_to(*command);
  command->callback([&context, options] {
    context.action = [&context, options] { return start_training(context, *options); };
  });
}

}  // namespace lorikeet
