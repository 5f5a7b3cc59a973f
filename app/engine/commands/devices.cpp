// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/engine/command.h"
#include "kernels/backend.h"

namespace lorikeet {
namespace {

int run_devices(const CommandContext& context) {
  const DeviceReport report = list_devices();
  if (context.json) {
    Json devices = Json::array();
    for (const auto& device : report.devices) {
      devices.push_back({{"kind", device.kind},
                         {"name", device.name},
                         {"instruction_set", device.instruction_set},
                         {"threads", device.threads},
                         {"memory_total_bytes", device.memory_total_bytes},
                         {"memory_free_bytes", device.memory_free_bytes},
                         {"has_bf16", device.has_bf16}});
    }
    print_json({{"devices", devices}, {"notes", report.notes}});
    return exit_done;
  }
  for (const auto& device : report.devices) {
    print_text(fmt::format(
        "{}: {}, {}, {} threads, {:.1f} of {:.1f} GB free, products in {}\n", device.kind, device.name,
        device.instruction_set, device.threads, static_cast<double>(device.memory_free_bytes) / 1e9,
        static_cast<double>(device.memory_total_bytes) / 1e9, device.has_bf16 ? "bf16" : "f32"));
  }
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
