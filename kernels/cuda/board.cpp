// SPDX-License-Identifier: Apache-2.0
// Source: NVML API Reference Guide. Its header is not always installed, so what is used is declared here.
#include "kernels/cuda/board.h"

#include <dlfcn.h>

#include <array>
#include <fstream>
#include <memory>

namespace lorikeet::cuda {
namespace {

using Status = int;  // nvmlReturn_t, 0 = done
using Device = struct OpaqueDevice*;
struct Memory {  // nvmlMemory_t
  unsigned long long total, free, used;
};

/// The library, started; stopped and closed at the end of a question.
class Nvml {
 public:
  Nvml() : library_(dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL)) {
    const auto start = find<Status()>("nvmlInit_v2");
    started_ = start && find<Status()>("nvmlShutdown") && start() == 0;
  }
  ~Nvml() {
    if (started_) (void)find<Status()>("nvmlShutdown")();
    if (library_) dlclose(library_);
  }
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  bool started() const { return started_; }
  template <typename Function>
  Function* find(const char* name) const {
    return library_ ? reinterpret_cast<Function*>(dlsym(library_, name)) : nullptr;
  }

 private:
  void* library_;
  bool started_ = false;
};

}  // namespace

std::optional<BoardMemory> board_memory(const std::string& bus_id) {
  const Nvml nvml;
  if (!nvml.started()) return std::nullopt;
  const auto find_device = nvml.find<Status(const char*, Device*)>("nvmlDeviceGetHandleByPciBusId_v2");
  const auto ask_memory = nvml.find<Status(Device, Memory*)>("nvmlDeviceGetMemoryInfo");
  Device device = nullptr;
  Memory memory{};
  if (!find_device || !ask_memory || find_device(bus_id.c_str(), &device) != 0 ||
      ask_memory(device, &memory) != 0)
    return std::nullopt;
  if (memory.total == 0 || memory.free > memory.total) return std::nullopt;
  return BoardMemory{memory.free, memory.total};
}

std::string driver_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  if (std::getline(file, release) && !release.empty()) return release;
  const Nvml nvml;  // the file is not there under Windows' Linux
  if (!nvml.started()) return {};
  const auto ask = nvml.find<Status(char*, unsigned)>("nvmlSystemGetDriverVersion");
  std::array<char, 81> text{};
  if (!ask || ask(text.data(), static_cast<unsigned>(text.size() - 1)) != 0) return {};
  return text.data();
}

}  // namespace lorikeet::cuda
