// SPDX-License-Identifier: Apache-2.0
#include "core/model/inspect.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/data/describe.h"
#include "core/model/adapter_files.h"
#include "core/model/check_model.h"
#include "core/model/model_files.h"
#include "core/model/model_spec.h"
#include "core/model/safetensors.h"
#include "core/model/weight_source.h"
#include "core/train/run_folder.h"
#include "core/train/run_report.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// Does one part of an inspection; what it throws becomes a problem and the other parts go on.
void attempt(Json& report, const std::function<void()>& part) {
  try {
    part();
  } catch (const Error& error) {
    const Json problem = {{"what", error.message()}, {"where", error.where()}, {"hint", error.hint()}};
    Json& all = report["problems"];
    // What keeps a file from being opened keeps every part of the inspection from it.
    if (std::find(all.begin(), all.end(), problem) == all.end()) all.push_back(problem);
  }
}

Json start(const char* kind, const std::string& path) {
  return {{"kind", kind}, {"path", path}, {"problems", Json::array()}, {"notes", Json::array()}};
}

Json inspect_model(const std::string& path) {
  Json report = start("model", path);
  ModelSpec spec;
  bool has_spec = false;
  attempt(report, [&] {
    spec = read_model_spec(path);
    has_spec = true;
    report["name"] = spec.name;
    report["family"] = spec.family;
    report["parameters"] = spec.parameters();
    report["layers"] = spec.layers;
    report["hidden_size"] = spec.hidden_size;
    report["intermediate_size"] = spec.intermediate_size;
    report["heads"] = spec.heads;
    report["kv_heads"] = spec.kv_heads;
    report["head_dim"] = spec.head_dim;
    report["vocab_size"] = spec.vocab_size;
    report["context"] = spec.context;
    report["tied_head"] = spec.tied_head;
  });
  attempt(report, [&] {
    const auto source = open_weight_source(path);
    std::uint64_t bytes = 0;
    Json types = Json::object();
    for (const auto& tensor : source->tensors()) {
      bytes += tensor.bytes.size();
      types[tensor.dtype] = types.value(tensor.dtype, 0) + 1;
    }
    report["tensors"] = source->tensors().size();
    report["bytes"] = bytes;
    report["types"] = types;
    if (!has_spec) return;
    for (const auto& finding : check_model(spec, *source)) {
      if (finding.fatal)
        report["problems"].push_back({{"what", finding.what}, {"where", finding.where}, {"hint", ""}});
      else
        report["notes"].push_back(finding.what + (finding.where.empty() ? "" : ": " + finding.where));
    }
  });
  attempt(report, [&] {
    const auto tokenizer = load_tokenizer(path);
    report["tokens"] = tokenizer->vocab_size();
    report["chat_template"] = !tokenizer->chat_template().empty();
    if (has_spec && tokenizer->vocab_size() > spec.vocab_size) {
      report["problems"].push_back({{"what", "The tokenizer has more tokens than the model has rows"},
                                    {"where", path},
                                    {"hint", "Check that tokenizer and model belong together"}});
    }
  });
  return report;
}

Json inspect_adapter(const std::string& path) {
  Json report = start("adapter", path);
  attempt(report, [&] {
    const AdapterConfig config = read_adapter_config(path);
    report["rank"] = config.rank;
    report["alpha"] = config.alpha;
    report["rslora"] = config.rslora;
    report["dora"] = config.dora;
    const ModuleChoice& targets = config.targets;
    report["targets"] = targets.all_linear         ? Json("all-linear")
                        : !targets.pattern.empty() ? Json(targets.pattern)
                                                   : Json(targets.names);
    report["base"] = config.base_name;
  });
  attempt(report, [&] {
    const AdapterNotes notes = read_adapter_notes(path);
    report["format"] = notes.format.empty() ? "unknown" : notes.format;
    report["run"] = notes.run_id;
    if (!notes.init.empty())
      report["fits"] = "the base quantised to " + notes.quantization + " (" + notes.init + ")";
  });
  attempt(report, [&] {
    const SafetensorsFile weights(adapter_weights_path(path));
    report["tensors"] = weights.tensors().size();
    if (weights.tensors().empty()) {
      report["problems"].push_back(
          {{"what", "The adapter holds no tensors"}, {"where", weights.path()}, {"hint", ""}});
    }
  });
  return report;
}

Json inspect_run(const std::string& path) {
  Json report = start("run", path);
  attempt(report, [&] {
    const RunFolder run = RunFolder::open(path);
    const Job job = run.read_job();
    const RunHistory history = run.read_history();
    report["name"] = job.name;
    report["model"] = job.model_path;
    report["data"] = job.data_path;
    report["state"] = to_string(history.state);
    report["alive"] = run.is_alive();
    report["killed"] = run.was_killed();
    report.update(run_report(history, job.settings));
    report["checkpoints"] = history.checkpoints.size();
    for (const auto& warning : history.warnings) report["notes"].push_back(warning.what);
    if (history.error) {
      report["problems"].push_back(
          {{"what", history.error->what}, {"where", history.error->where}, {"hint", history.error->hint}});
    }
  });
  return report;
}

Json inspect_data(const std::string& path) {
  Json report = start("data", path);
  attempt(report, [&] {
    report.update(describe_data(path));
  });
  return report;
}

}  // namespace

Json inspect_path(const std::string& path) {
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(ErrorCode::not_found, "There is nothing at this path", path, "Check the path");
  if (fs::is_directory(path, ignored)) {
    if (fs::exists(path + "/job.json", ignored)) return inspect_run(path);
    if (fs::exists(path + "/adapter_config.json", ignored)) return inspect_adapter(path);
    return inspect_model(path);
  }
  const std::string extension = fs::path(path).extension().string();
  const bool is_model = is_gguf_file(path) || extension == ".gguf" || extension == ".safetensors" ||
                        extension == ".bin" || extension == ".pt" || extension == ".pth";
  return is_model ? inspect_model(path) : inspect_data(path);
}

}  // namespace lorikeet
