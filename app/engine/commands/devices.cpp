// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "kernels/backend.h"

namespace lorikeet {
namespace {

std::string line_of(const DeviceInfo& device) {
  const bool is_gpu = device.kind == "cuda";
  const double free = static_cast<double>(device.memory_free_bytes) / 1e9;
  const double total = static_cast<double>(device.memory_total_bytes) / 1e9;
  const std::string memory = device.memory_free_known
                                 ? fmt::format("{:.1f} of {:.1f} GB free", free, total)
                                 : fmt::format("{:.1f} GB, how much of it is free is not known", total);
  return fmt::format("{}: {}, {}, {} {}, {}, products in {}{}\n", device.kind, device.name,
                     device.instruction_set, device.threads, is_gpu ? "multiprocessors" : "threads", memory,
                     device.has_bf16 ? "bf16" : (is_gpu ? "f16" : "f32"),
                     is_gpu ? ", driver for CUDA " + device.driver : std::string());
}

int run_devices(const CommandContext& context) {
  const DeviceReport report = list_devices();
  if (context.json) {
    Json devices = Json::array();
    for (const auto& device : report.devices) {
      Json entry = {{"kind", device.kind},
                    {"name", device.name},
                    {"instruction_set", device.instruction_set},
                    {"threads", device.threads},
                    {"memory_total_bytes", device.memory_total_bytes},
                    {"memory_free_bytes", device.memory_free_bytes},
                    {"memory_free_known", device.memory_free_known},
                    {"has_bf16", device.has_bf16}};
      if (!device.driver.empty()) entry["driver"] = device.driver;
      if (!device.driver_release.empty()) entry["driver_release"] = device.driver_release;
      if (!device.runtime.empty()) entry["cuda_runtime"] = device.runtime;
      devices.push_back(std::move(entry));
    }
    print_json({{"devices", devices}, {"notes", report.notes}});
    return exit_done;
  }
  for (const auto& device : report.devices) print_text(line_of(device));
  for (const auto& note : report.notes) print_text(note + "\n");
  return exit_done;
}

}  // namespace

void add_devices(CLI::App& app, CommandContext& context) {
  CLI::App* command =
      add_command(app, context, "devices", "What this machine can compute on, and why not on a GPU");
  command->callback([&context] { context.action = [&context] { return run_devices(context); }; });
}

}  // namespace lorikeet
