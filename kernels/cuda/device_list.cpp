// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's driver tells of its devices, and why there are none, in sentences.
#include "kernels/cuda/device_list.h"

#include <fstream>
#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/status.h"

namespace lorikeet::cuda {
namespace {

constexpr int lowest_capability = 75;  // the lowest that CUDA 13 compiles for

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// Lowest release of the driver that serves the run-time library linked here.
const char* needed_release() {
  return CUDART_VERSION >= 13000 ? "580" : "525";
}

std::string loaded_release() {
  std::ifstream file("/sys/module/nvidia/version");
  std::string release;
  std::getline(file, release);
  return release;
}

}  // namespace

void use_device(int ordinal) {
  thread_local int current = -1;  // a thread starts with device 0, but is told so once
  if (current == ordinal) return;
  check_cuda(cudaSetDevice(ordinal), "cudaSetDevice");
  current = ordinal;
}

int compute_capability_of(int ordinal) {
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor, ordinal) +
         attribute(cudaDevAttrComputeCapabilityMinor, ordinal);
}

DeviceInfo describe_device(int ordinal) {
  DeviceInfo info;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  const int capability = compute_capability_of(ordinal);
  info.kind = "cuda";
  info.name = properties.name;
  info.instruction_set = "compute " + std::to_string(capability / 10) + "." + std::to_string(capability % 10);
  info.threads = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.has_bf16 = capability >= 80;
  int driver = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  info.driver = version_text(driver);
  use_device(ordinal);
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  info.memory_free_bytes = free;
  info.memory_total_bytes = total;
  return info;
}

void require_served(const DeviceInfo& device, int compute_capability) {
  if (compute_capability >= lowest_capability) return;
  throw Error(ErrorCode::unsupported,
              device.name + " has " + device.instruction_set + ", 7.5 or newer is needed", "device cuda",
              "Use device cpu or auto");
}

std::string reason_for(cudaError_t status, int driver_version, const std::string& release) {
  const std::string needed = std::string("release ") + needed_release() + " or newer is needed";
  switch (status) {
    case cudaSuccess:
    case cudaErrorNoDevice:
      return "CUDA is not used: no NVIDIA GPU was found";
    case cudaErrorStubLibrary:
    case cudaErrorInsufficientDriver:
      if (driver_version == 0) return "CUDA is not used: no NVIDIA driver was found, " + needed;
      return "CUDA is not used: the NVIDIA driver" + (release.empty() ? "" : " " + release) +
             " is for CUDA " + version_text(driver_version) + ", " + needed;
    case cudaErrorDevicesUnavailable:
      return "CUDA is not used: the GPU is taken by another program";
    default:
      return "CUDA is not used: the NVIDIA driver" + (release.empty() ? "" : " " + release) +
             " does not start: " + cudaGetErrorString(status);
  }
}

CudaReport find_devices() {
  CudaReport report;
  int count = 0, driver = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0) {
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    report.reason = reason_for(status, driver, loaded_release());
    return report;
  }
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      DeviceInfo device = describe_device(ordinal);
      require_served(device, compute_capability_of(ordinal));
      report.devices.push_back(std::move(device));
    } catch (const Error& error) {
      report.reason += (report.reason.empty() ? "CUDA is not used: " : "; ") + error.message();
    }
  }
  if (!report.devices.empty()) report.reason.clear();
  return report;
}

int first_device() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  (void)cudaGetLastError();
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      require_served(describe_device(ordinal), compute_capability_of(ordinal));
      return ordinal;
    } catch (const Error&) {
      // find_devices() below tells what is wrong with it
    }
  }
  throw Error(ErrorCode::unsupported, find_devices().reason, "device cuda", "Use device cpu or auto");
}

}  // namespace lorikeet::cuda
