// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_record.h"

#include <filesystem>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr const char* why_no_gpu = "cuda";  // in the record of the machine

}  // namespace

void require_unchanged(const Job& job, const RunIdentity& now, const std::string& run_path) {
  const auto check = [&](const std::string& recorded, const std::string& found, const std::string& what) {
    if (recorded.empty() || recorded == found) return;
    throw Error(
        ErrorCode::invalid_argument, what + " changed since this run began", run_path,
        "Put it back, or start a new run that goes on from this run's adapter: lorikeet train --adapter");
  };
  check(job.base_id, now.base_id, "The base model " + job.model_path);
  check(job.data_sha256, now.data_sha256, "The data file " + job.data_path);
  check(job.template_hash, now.template_hash, "The prompt template");
}

std::vector<std::pair<std::string, std::string>> describe_machine(const DeviceInfo& device, DType compute,
                                                                  const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> machine = {{"device", device.name},
                                                              {"instruction_set", device.instruction_set},
                                                              {"threads", std::to_string(device.threads)},
                                                              {"compute", to_string(compute)}};
  if (settings.device != "auto" || device.kind != "cpu") return machine;
  std::string reason;
  for (const std::string& note : list_devices().notes) reason += (reason.empty() ? "" : "; ") + note;
  if (!reason.empty()) machine.emplace_back(why_no_gpu, reason);
  return machine;
}

bool same_machine(std::vector<std::pair<std::string, std::string>> a,
                  std::vector<std::pair<std::string, std::string>> b) {
  for (auto* list : {&a, &b})
    std::erase_if(*list, [](const auto& entry) { return entry.first == why_no_gpu; });
  return a == b;
}

AdapterNotes make_notes(const Job& job, const PromptFormat& format, const std::string& run_path,
                        double rope_linear_factor) {
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
  notes.rope_linear_factor = rope_linear_factor;
  return notes;
}

}  // namespace lorikeet
