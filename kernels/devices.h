// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lorikeet {

class Backend;

/// One place where tensors live and are computed on.
struct DeviceInfo {
  std::string kind;             ///< "cpu" or "cuda"
  std::string name;             ///< for people, for example the processor's name
  std::string instruction_set;  ///< "x86-64-v2", "avx2", "avx512", "avx512-bf16"; compute capability on CUDA
  int threads = 1;
  std::uint64_t memory_total_bytes = 0;
  std::uint64_t memory_free_bytes = 0;
  bool memory_free_known = true;  ///< false: memory_free_bytes is all there is
  bool has_bf16 = false;          ///< bf16 products run at hardware speed
  // Of a GPU; empty on the CPU.
  std::string driver;          ///< CUDA version that the driver is for, for example "13.0"
  std::string driver_release;  ///< for example "580.65.06"; empty where it is not known
  std::string runtime;         ///< version of the CUDA run-time library, for example "13.0"
};

/// How a back end is to be made.
struct BackendOptions {
  std::string device = "auto";           ///< auto, cpu, cuda
  int threads = 0;                       ///< 0 = all cores
  std::uint64_t memory_limit_bytes = 0;  ///< 0 = none
};

/// The back end for the options; throws Error(unsupported) for a device that is not there, saying why.
std::unique_ptr<Backend> make_backend(const BackendOptions& options);

/// All devices of this machine; a reason per kind that is missing.
struct DeviceReport {
  std::vector<DeviceInfo> devices;
  std::vector<std::string> notes;  ///< for example why CUDA is not used
};
/// What can be used, without taking memory on a GPU. With `start` the first GPU is started, as a back end on
/// it does: its free memory is then what is left for tensors, and one that does not take this build's code is
/// left out with the reason. Throws Error where it has the code and cannot be had.
DeviceReport list_devices(bool start = false);

/// The device that make_backend takes for BackendOptions::device; the processor where that one is missing.
const DeviceInfo& chosen_device(const DeviceReport& report, const std::string& device);

}  // namespace lorikeet
