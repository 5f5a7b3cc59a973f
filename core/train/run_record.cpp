// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_record.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr const char* why_no_gpu = "cuda";  // in the record of the machine

}  // namespace

namespace {

std::string new_run_hint(const std::string& adapter) {
  return "start a new run that goes on from what this one has learnt: lorikeet train --adapter " + adapter;
}

}  // namespace

std::string learnt_adapter(const RunFolder& run) {
  std::error_code ignored;
  if (std::filesystem::exists(run.adapter_path(), ignored)) return run.adapter_path();
  const RunHistory history = run.read_history();  // a checkpoint is an adapter, too
  return history.checkpoints.empty() ? run.adapter_path()
                                     : run.path() + "/" + history.checkpoints.back().path;
}

void require_same_settings(const Json& saved, const Settings& now, const std::string& where,
                           const std::string& adapter) {
  const Json settings = settings_to_json(now);
  for (const SettingInfo& info : settings_table()) {
    // The compute type is the machine's choice where it is auto.
    if (info.group == "watching" || info.group == "machine" || info.key == "compute") continue;
    // A version that knew fewer settings worked as their defaults do.
    if (!saved.contains(info.key) || !settings.contains(info.key)) continue;
    if (saved.at(info.key) == settings.at(info.key)) continue;
    throw Error(ErrorCode::invalid_argument,
                "A run goes on as it began: " + info.key + " was " + saved.at(info.key).dump() +
                    " and would be " + settings.at(info.key).dump() + " now",
                where, "Leave it as it was, or " + new_run_hint(adapter));
  }
}

void require_unchanged(const Job& job, const RunIdentity& now, const RunFolder& run) {
  const auto check = [&](const std::string& recorded, const std::string& found, const std::string& what) {
    if (recorded.empty() || found.empty() || recorded == found) return;
    throw Error(ErrorCode::invalid_argument, what + " changed since this run began", run.path(),
                "Put it back, or " + new_run_hint(learnt_adapter(run)));
  };
  check(job.base_id, now.base_id, "The base model " + job.model_path);
  check(job.data_sha256, now.data_sha256, "The data file " + job.data_path);
  check(job.eval_data_sha256, now.eval_data_sha256, "The evaluation file " + job.settings.eval_data);
  check(job.template_hash, now.template_hash, "The prompt template");
  check(job.adapter_sha256, now.adapter_sha256, "The adapter " + job.adapter_path);
}

std::vector<std::pair<std::string, std::string>> describe_machine(Backend& backend, DType compute,
                                                                  const Settings& settings) {
  const DeviceInfo& device = backend.device();
  std::vector<std::pair<std::string, std::string>> machine = {{"device", device.name},
                                                              {"instruction_set", device.instruction_set},
                                                              {"threads", std::to_string(device.threads)},
                                                              {"compute", to_string(compute)}};
  if (device.kind == "cuda") {
    machine.emplace_back("driver", device.driver_release.empty()
                                       ? "for CUDA " + device.driver
                                       : device.driver_release + ", for CUDA " + device.driver);
    machine.emplace_back("cuda_runtime", device.runtime);
    machine.emplace_back("products", backend.products());
  }
  if (settings.device != "auto" || device.kind != "cpu") return machine;
  std::string reason;
  for (const std::string& note : list_devices(true).notes) reason += (reason.empty() ? "" : "; ") + note;
  if (!reason.empty()) machine.emplace_back(why_no_gpu, reason);
  return machine;
}

bool same_machine(const std::vector<std::pair<std::string, std::string>>& a,
                  const std::vector<std::pair<std::string, std::string>>& b) {
  for (const auto& [key, value] : a) {
    if (key == why_no_gpu) continue;
    for (const auto& [other_key, other] : b) {
      if (key == other_key && value != other) return false;
    }
  }
  return true;
}

Json event_line(const StepEvent& event) {
  const auto finite = [](double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); };
  return {{"type", "step"},
          {"step", event.step},
          {"epoch", event.epoch},
          {"loss", finite(event.loss)},
          {"learning_rate", event.learning_rate},
          {"grad_norm", finite(event.grad_norm)},
          {"tokens", event.tokens},
          {"trained_tokens", event.trained_tokens},
          {"tokens_per_second", event.tokens_per_second},
          {"memory_bytes", event.memory_bytes},
          {"elapsed_seconds", event.elapsed_seconds}};
}

Json event_line(const EvalEvent& event) {
  return {{"type", "eval"},
          {"step", event.step},
          {"loss", event.loss},
          {"perplexity", event.perplexity},
          {"accuracy", event.accuracy},
          {"tokens", event.tokens}};
}

Json norms_line(std::int64_t step, const std::vector<LayerNorms>& layers) {
  const auto column = [&](double LayerNorms::*member) {
    Json values = Json::array();
    for (const LayerNorms& layer : layers) {
      const double value = layer.*member;
      if (!std::isfinite(value)) {
        values.push_back(nullptr);
        continue;
      }
      char text[32];
      const char* end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, 4).ptr;
      double rounded = 0;
      std::from_chars(text, end, rounded);
      values.push_back(rounded);
    }
    return values;
  };
  return {{"type", "norms"},
          {"step", step},
          {"gradient", column(&LayerNorms::gradient)},
          {"update", column(&LayerNorms::update)},
          {"parameter", column(&LayerNorms::parameter)}};
}

Json data_line(const PreparedData& data, const Plan& plan) {
  return {{"type", "data"},
          {"rows", plan.rows},
          {"evaluation_rows", plan.evaluation_rows},
          {"tokens", plan.tokens},
          {"trained_tokens", plan.trained_tokens},
          {"refused_rows", data.refused.size()},
          {"cut_rows", data.cut_rows}};
}

AdapterNotes make_notes(const Job& job, const PromptFormat& format, const std::string& run_path,
                        double rope_linear_factor, std::vector<AdapterParent> lineage) {
  AdapterNotes notes;
  notes.format = format.format();
  notes.template_text = format.template_text();
  notes.template_hash = format.template_hash();
  notes.system = format.system();
  notes.stop_ids = format.stop_ids();
  notes.base_id = job.base_id;
  notes.base_name = job.base_name;
  notes.run_id = std::filesystem::path(run_path).filename().string();
  notes.quantization = job.settings.quantization;
  if (job.settings.init != "default") notes.init = job.settings.init;
  notes.rope_linear_factor = rope_linear_factor;
  notes.lineage = std::move(lineage);
  return notes;
}

}  // namespace lorikeet
