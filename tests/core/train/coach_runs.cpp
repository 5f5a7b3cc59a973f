// SPDX-License-Identifier: Apache-2.0
#include "tests/core/train/coach_runs.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <stop_token>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/model/safetensors.h"
#include "core/train/run_job.h"
#include "kernels/base/error.h"
#include "tests/support/llama2c_model.h"

namespace lorikeet::test {
namespace {

namespace fs = std::filesystem;

std::string test_data() {
  const char* folder = std::getenv("LORIKEET_TEST_DATA");
  return folder ? folder : "";
}

Rows rows_of(CoachBase base) {
  const std::string path = base == CoachBase::alpaca
                               ? test_data() + "/instruct/llama-factory/alpaca_en_demo.json"
                               : std::string(LORIKEET_SAMPLES "/stories.json");
  const Json json = parse_json(read_file(path), path);
  return {json.begin(), json.end()};
}

/// A copy of the sample model whose last norm has a weight of 3.4e38, in f32 and in bf16.
void write_broken_model(const std::string& folder) {
  fs::copy(LORIKEET_SAMPLES "/nest", folder, fs::copy_options::recursive);
  const std::string name = folder + "/model.safetensors";
  std::string bytes = read_file(name);
  const SafetensorsHeader header = parse_safetensors(std::as_bytes(std::span(bytes)), name);
  const auto norm = std::find_if(header.tensors.begin(), header.tensors.end(),
                                 [](const auto& tensor) { return tensor.name == "model.norm.weight"; });
  if (norm == header.tensors.end()) throw Error(ErrorCode::bad_format, "The sample model has no last norm");
  bytes.replace(header.data_start + norm->begin, 4, 4, '\x7f');
  std::ofstream(name, std::ios::binary) << bytes;
}

/// "plateau, divergence", or "nothing".
std::string names_of(const std::vector<Advice>& advice) {
  std::string names;
  for (const auto& one : advice) names += std::string(names.empty() ? "" : ", ") + to_string(one.trouble);
  return names.empty() ? "nothing" : names;
}

}  // namespace

bool CoachRuns::possible(const CoachScript& script) {
  return script.base == CoachBase::nest || script.base == CoachBase::broken || !test_data().empty();
}

std::string CoachRuns::model(CoachBase base) const {
  if (base == CoachBase::nest) return LORIKEET_SAMPLES "/nest";
  const bool broken = base == CoachBase::broken;
  const std::string path = folder_ + (broken ? "/broken" : "/stories260K");
  if (fs::exists(path)) return path;
  if (broken) {
    write_broken_model(path);
  } else {
    const std::string source = test_data() + "/weights/stories260K";
    convert_llama2c_model(source + "/stories260K.bin", source + "/tok512.bin", path);
  }
  return path;
}

std::pair<RunHistory, Settings> CoachRuns::run(const CoachScript& script) {
  Rows rows = rows_of(script.base);
  if (script.rows) script.rows(rows);
  const std::string number = std::to_string(++count_);
  Job job;
  job.name = script.name;
  job.model_path = model(script.base);
  job.data_path = folder_ + "/data-" + number + ".json";
  std::ofstream(job.data_path) << Json(rows).dump();
  std::vector<std::pair<std::string, std::string>> flags = {
      {"template", "alpaca"},    {"rank", "32"},       {"alpha", "32"},        {"max-length", "256"},
      {"max-steps", "80"},       {"batch-size", "8"},  {"accumulation", "1"},  {"learning-rate", "0.008"},
      {"eval-fraction", "0.05"}, {"eval-every", "20"}, {"save-every", "1000"}, {"threads", "1"}};
  flags.insert(flags.end(), script.flags.begin(), script.flags.end());
  for (const auto& [key, value] : flags) set_setting(job.settings, key, value);
  RunFolder folder = RunFolder::create(folder_ + "/run-" + number, job);
  // Values that are not finite pause a run; nobody is here to go on with it.
  std::stop_source stop;
  RunJobOptions options;
  options.stop = stop.get_token();
  options.progress = [&](const RunProgress& progress) {
    if (progress.state == RunState::paused) stop.request_stop();
  };
  run_job(folder, options);
  return {folder.read_history(), job.settings};
}

RunHistory prefix(const RunHistory& whole, double share) {
  RunHistory part = whole;
  const auto last = static_cast<std::int64_t>(share * static_cast<double>(whole.total_steps));
  const auto beyond = [&](const auto& event) { return event.step > last; };
  std::erase_if(part.steps, beyond);
  std::erase_if(part.evaluations, beyond);
  std::erase_if(part.norms, beyond);
  if (share < 1) part.done.reset();
  return part;
}

CoachAnswer answer_to(const CoachScript& script, const RunHistory& history, const Settings& settings) {
  CoachAnswer answer;
  answer.advice = coach(prefix(history, script.seen), settings);
  answer.right = !answer.advice.empty() && script.trouble() == to_string(answer.advice.front().trouble);
  const auto of_rate = [](const std::string& name) {
    return name == "divergence" || name == "rate_too_high";
  };
  answer.same_cause = answer.right || (!answer.advice.empty() && of_rate(script.trouble()) &&
                                       of_rate(to_string(answer.advice.front().trouble)));
  answer.line = fmt::format("{:52} -> {}", script.name, names_of(answer.advice));
  if (!answer.advice.empty()) answer.line += " | " + english(answer.advice.front().evidence);
  return answer;
}

std::string first_alarm(const RunHistory& history, const Settings& settings) {
  for (int percent = 5; percent <= 100; percent += 5) {
    const auto advice = coach(prefix(history, percent / 100.0), settings);
    if (!advice.empty())
      return fmt::format("at {} %: {}: {}", percent, names_of(advice), english(advice.front().evidence));
  }
  return {};
}

}  // namespace lorikeet::test
