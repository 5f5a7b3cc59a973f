// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/small_run.h"

#include "core/base/files.h"
#include "tests/app/cli_support.h"

namespace lorikeet::test {

SmallRuns::SmallRuns(const std::string& folder) : model_(folder + "/model"), data_(folder + "/data.json") {
  write_tiny_folder(model_, cli_model());
  write_alpaca(data_, 40);
}

Settings SmallRuns::settings() {
  Settings settings;
  settings.rank = 4;
  settings.max_length = 320;
  settings.max_steps = 6;
  settings.batch_size = 2;
  settings.accumulation = 2;
  settings.eval_fraction = 0.1;
  settings.eval_every = 3;
  settings.save_every = 2;
  settings.learning_rate = 1e-2;
  settings.sample_prompts = {"Say a number"};
  settings.compute = "f32";
  settings.memory_limit_bytes = 1'000'000'000;
  return settings;
}

Job SmallRuns::job(const Settings& settings) const {
  Job job;
  job.name = "small";
  job.model_path = model_;
  job.data_path = data_;
  job.settings = settings;
  return job;
}

namespace {

RunEnd execute(RunFolder run, bool resume, const SmallRuns::Watch& watch) {
  RunJobOptions options;
  options.resume = resume;
  options.engine_version = "test";
  options.progress = watch;
  return run_job(run, options);
}

}  // namespace

RunEnd SmallRuns::begin(const std::string& path, const Settings& settings, const Watch& watch) const {
  return execute(RunFolder::create(path, job(settings)), false, watch);
}

RunEnd SmallRuns::go_on(const std::string& path, const Watch& watch) const {
  return execute(RunFolder::open(path), true, watch);
}

std::string adapter_bytes(const std::string& run) {
  return read_file(run + "/adapter/adapter_model.safetensors");
}

std::vector<double> losses_of(const std::string& run) {
  std::vector<double> losses;
  for (const StepEvent& step : RunFolder::open(run).read_history().steps) losses.push_back(step.loss);
  return losses;
}

}  // namespace lorikeet::test
