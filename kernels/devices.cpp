// SPDX-License-Identifier: Apache-2.0
#include "kernels/devices.h"

#include <algorithm>
#include <string>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda/cuda_loader.h"

namespace lorikeet {

std::unique_ptr<Backend> make_backend(const BackendOptions& options) {
  if (options.threads < 0) {
    throw Error(ErrorCode::invalid_argument, "threads cannot be negative", "threads", "0 means all cores");
  }
  if (options.device == "cuda") return make_cuda_backend(options);
  if (options.device == "auto" && !list_cuda_devices(true).devices.empty()) return make_cuda_backend(options);
  if (options.device != "cpu" && options.device != "auto") {
    throw Error(ErrorCode::unsupported, "There is no device " + options.device, "device",
                "Use auto, cpu or cuda");
  }
  const int threads = options.threads > 0 ? options.threads : usable_cores();
  return std::make_unique<CpuBackend>(threads, options.memory_limit_bytes);
}

const DeviceInfo& chosen_device(const DeviceReport& report, const std::string& device) {
  const auto is_gpu = [](const DeviceInfo& info) { return info.kind == "cuda"; };
  const auto gpu = std::find_if(report.devices.begin(), report.devices.end(), is_gpu);
  return device != "cpu" && gpu != report.devices.end() ? *gpu : report.devices.front();
}

DeviceReport list_devices(bool start) {
  DeviceReport report;
  report.devices.push_back(cpu_device_info(chosen_isa(), usable_cores()));
  CudaReport cuda = list_cuda_devices(start);
  for (DeviceInfo& device : cuda.devices) report.devices.push_back(std::move(device));
  if (!cuda.reason.empty()) report.notes.push_back(std::move(cuda.reason));
  if (!cuda.note.empty()) report.notes.push_back(std::move(cuda.note));
  return report;
}

}  // namespace lorikeet
