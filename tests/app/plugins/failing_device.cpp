// SPDX-License-Identifier: Apache-2.0
// A plug-in whose "GPU" is the processor and can be told to fail: LORIKEET_TEST_GPU is "refuse" (no back end
// can be made), "no code" (it is found when the device is started that the program has none for it), "memory
// N" (only N bytes are free) or "lost N" (the device is lost in the Nth optimiser step).
#include <cstdlib>
#include <string>

#include "kernels/cpu/cpu_backend.h"
#include "kernels/cuda/plugin.h"

namespace {

using namespace lorikeet;

std::string wish() {
  const char* text = std::getenv("LORIKEET_TEST_GPU");
  return text ? text : "";
}

DeviceInfo test_device() {
  DeviceInfo device = cpu_device_info(chosen_isa(), usable_cores());
  device.kind = "cuda";
  device.name = "Test GPU";
  device.instruction_set = "compute 8.6";
  device.memory_total_bytes = 1'000'000'000;
  device.memory_free_bytes =
      wish().starts_with("memory ") ? std::stoull(wish().substr(7)) : device.memory_total_bytes;
  device.driver = "13.0";
  device.driver_release = "580.65.06";
  device.runtime = "13.0";
  return device;
}

class FailingBackend final : public CpuBackend {
 public:
  FailingBackend(std::uint64_t limit, int good_steps)
      : CpuBackend(usable_cores(), limit), device_(test_device()), good_steps_(good_steps) {}

  const DeviceInfo& device() const override { return device_; }
  std::string products() override { return "own products"; }
  void guarded_adamw(TensorView parameters, TensorView gradients, std::span<const AdamPart> parts,
                     const AdamStep& step, float max_norm, TensorView loss_sum, TensorView outcome,
                     TensorView norms) override {
    if (good_steps_-- == 0) {
      throw Error(ErrorCode::device, "adamw failed: an illegal memory access was encountered", "GPU",
                  "The GPU has to be started anew");
    }
    CpuBackend::guarded_adamw(parameters, gradients, parts, step, max_norm, loss_sum, outcome, norms);
  }

 private:
  DeviceInfo device_;
  int good_steps_;
};

}  // namespace

extern "C" {
std::uint64_t lorikeet_backend_abi() {
  return plugin_abi();
}
bool lorikeet_list_devices(bool start, CudaReport* report, PluginError*) {
  if (wish() == "no code" && start) {
    report->reason = "CUDA is not used: Test GPU: this build has no code for compute capability 8.6";
    return true;
  }
  report->devices.push_back(test_device());
  if (wish() == "note") report->note = "cuBLASLt was not found";
  return true;
}
Backend* lorikeet_make_backend(const BackendOptions* options, PluginError* error) {
  if (wish() == "refuse") {
    *error = {ErrorCode::out_of_memory, "cudaStreamCreate failed: out of memory", "GPU memory",
              "Close other programs"};
    return nullptr;
  }
  if (wish() == "no code") {
    *error = {ErrorCode::unsupported,
              "CUDA is not used: Test GPU: this build has no code for compute capability 8.6", "device cuda",
              "Use device cpu or auto"};
    return nullptr;
  }
  const int good_steps = wish().starts_with("lost ") ? std::stoi(wish().substr(5)) - 1 : 1 << 30;
  return new FailingBackend(options->memory_limit_bytes, good_steps);
}
}
