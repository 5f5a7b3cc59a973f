// SPDX-License-Identifier: Apache-2.0
// What NVIDIA's driver tells of its devices, and why there are none, in sentences.
#include "kernels/cuda/device_list.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/board.h"
#include "kernels/cuda/built_code.h"
#include "kernels/cuda/status.h"

namespace lorikeet::cuda {
namespace {

constexpr int lowest_capability = 75;  // the lowest that CUDA 13 compiles for

int attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, which, ordinal), "cudaDeviceGetAttribute");
  return value;
}

int driver_version() {
  int version = 0;
  check_cuda(cudaDriverGetVersion(&version), "cudaDriverGetVersion");
  return version;
}

/// Lowest release of the driver that serves the run-time library linked here.
const char* needed_release() {
  return CUDART_VERSION >= 13000 ? "580" : "525";
}

/// All but free memory.
DeviceInfo describe(int ordinal) {
  DeviceInfo info;
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, ordinal), "cudaGetDeviceProperties");
  const int capability = compute_capability_of(ordinal);
  info.kind = "cuda";
  info.name = properties.name;
  info.instruction_set = "compute " + capability_text(capability);
  info.threads = attribute(cudaDevAttrMultiProcessorCount, ordinal);
  info.has_bf16 = capability >= 80;
  info.driver = version_text(driver_version());
  info.driver_release = driver_release();
  int runtime = 0;
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  info.runtime = version_text(runtime);
  info.memory_total_bytes = properties.totalGlobalMem;
  return info;
}

/// Sets free memory from the card's own account of it. Where that speaks of more than this device has, the
/// device is a part of the card and nothing is known.
void describe_free_memory(DeviceInfo& info, int ordinal) {
  std::array<char, 32> bus_id{};
  const cudaError_t status =
      cudaDeviceGetPCIBusId(bus_id.data(), static_cast<int>(bus_id.size()) - 1, ordinal);
  if (status != cudaSuccess) (void)cudaGetLastError();
  const auto board = status == cudaSuccess ? board_memory(bus_id.data()) : std::nullopt;
  info.memory_free_known = board && board->total_bytes / 10 * 9 <= info.memory_total_bytes;
  info.memory_free_bytes =
      info.memory_free_known ? std::min(board->free_bytes, info.memory_total_bytes) : info.memory_total_bytes;
}

bool is_missing_code(cudaError_t status) {
  switch (status) {
    case cudaErrorNoKernelImageForDevice:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidKernelImage:
    case cudaErrorInvalidPtx:
    case cudaErrorUnsupportedPtxVersion:
    case cudaErrorJitCompilerNotFound:
    case cudaErrorJitCompilationDisabled:
      return true;
    default:
      return false;
  }
}

/// `found` is what is wrong, without the device's name.
[[noreturn]] void refuse_code(const DeviceInfo& device, int capability, const std::string& found) {
  throw Error(ErrorCode::unsupported, device.name + ": " + found, "device cuda",
              "Build Lorikeet on this machine with packaging/start, or with CMAKE_CUDA_ARCHITECTURES=" +
                  std::to_string(capability) + "; until then use device cpu or auto");
}

/// A device that can be used, with its ordinal; the first one of `start` is started.
struct Candidate {
  int ordinal = 0;
  DeviceInfo info;
};

struct Search {
  std::vector<Candidate> found;
  std::string reasons;          ///< why others cannot
  std::optional<Error> failed;  ///< of a device that has code and cannot be had
};

Search search(int count, const std::string& architectures, bool start) {
  Search result;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    try {
      DeviceInfo device = describe(ordinal);
      const int capability = compute_capability_of(ordinal);
      require_served(device, capability);
      const std::string obstacle = code_obstacle(architectures, capability, driver_version(), CUDART_VERSION);
      if (!obstacle.empty()) refuse_code(device, capability, obstacle);
      if (start && result.found.empty())
        device = start_device(ordinal);
      else
        describe_free_memory(device, ordinal);
      result.found.push_back({ordinal, std::move(device)});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported && start && !result.failed) result.failed = error;
      result.reasons += (result.reasons.empty() ? "" : "; ") + error.message() +
                        (error.hint().empty() ? "" : ". " + error.hint());
    }
  }
  return result;
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
  DeviceInfo info = describe(ordinal);
  describe_free_memory(info, ordinal);
  return info;
}

DeviceInfo start_device(int ordinal) {
  DeviceInfo info = describe(ordinal);
  cudaError_t status = cudaSetDevice(ordinal);  // makes the context
  if (status == cudaSuccess) {
    use_device(ordinal);
    status = ask_for_code();
  }
  if (status == cudaErrorDevicesUnavailable) {  // exclusive to one program
    (void)cudaGetLastError();
    throw Error(ErrorCode::unsupported, info.name + " is taken by another program", "device cuda",
                "End that one, or use device cpu or auto");
  }
  if (is_missing_code(status)) {
    (void)cudaGetLastError();
    const std::string why = cudaGetErrorString(status);
    (void)cudaDeviceReset();  // the context is of no use
    const int capability = compute_capability_of(ordinal);
    refuse_code(
        info, capability,
        "this build has no code for compute capability " + capability_text(capability) + " (" + why + ")");
  }
  check_cuda(status, "cudaFuncGetAttributes");
  std::size_t free = 0, total = 0;
  check_cuda(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  info.memory_free_bytes = free;
  info.memory_total_bytes = total;
  info.memory_free_known = true;
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

CudaReport find_devices(const std::string& architectures, bool start) {
  CudaReport report;
  int count = 0, driver = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  (void)cudaGetLastError();
  if (status != cudaSuccess || count == 0) {
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    report.reason = reason_for(status, driver, driver_release());
    return report;
  }
  Search result = search(count, architectures, start);
  if (result.found.empty() && result.failed) throw *result.failed;
  for (Candidate& candidate : result.found) report.devices.push_back(std::move(candidate.info));
  if (report.devices.empty())
    report.reason = "CUDA is not used: " + result.reasons;
  else if (!result.reasons.empty())
    report.note = "Not used: " + result.reasons;
  return report;
}

int first_device(const std::string& architectures) {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
  (void)cudaGetLastError();
  const Search result = search(count, architectures, true);
  if (!result.found.empty()) return result.found.front().ordinal;
  if (result.failed) throw *result.failed;
  throw Error(ErrorCode::unsupported, find_devices(architectures, true).reason, "device cuda",
              "Use device cpu or auto");
}

}  // namespace lorikeet::cuda
