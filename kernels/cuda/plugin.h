// SPDX-License-Identifier: Apache-2.0
// What passes between the program and the plug-in liblorikeet_cuda.so. C++ objects do, so both must come from
// the same build: the ABI number says so.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "kernels/cuda/cuda_loader.h"

namespace lorikeet {

/// An Error on its way out of the plug-in, through which no exception passes.
struct PluginError {
  ErrorCode code = ErrorCode::device;
  std::string message, where, hint;
};

/// Number of this interface mixed with the compiler's version and the sizes of what passes (FNV-1a).
constexpr std::uint64_t plugin_abi() {
  constexpr std::uint64_t interface = 2;  ///< raise it when Backend or what follows changes
  std::uint64_t hash = 0xcbf29ce484222325u;
  const auto mix = [&hash](std::uint64_t value) { hash = (hash ^ value) * 0x100000001b3u; };
  for (const char c : std::string_view(__VERSION__)) mix(static_cast<unsigned char>(c));
  for (const std::uint64_t value :
       {interface, std::uint64_t{sizeof(Backend)}, std::uint64_t{sizeof(DeviceInfo)},
        std::uint64_t{sizeof(BackendOptions)}, std::uint64_t{sizeof(CudaReport)},
        std::uint64_t{sizeof(PluginError)}, std::uint64_t{sizeof(TensorView)}}) {
    mix(value);
  }
  return hash;
}

extern "C" {
/// plugin_abi() of the plug-in.
using PluginAbi = std::uint64_t();
/// Fills `report`; false when it could not, with `error` saying why. `start` as of list_devices().
using PluginDevices = bool(bool start, CudaReport* report, PluginError* error);
/// A back end on the first device that is served, to be deleted by the caller; null with `error` saying why.
using PluginBackend = Backend*(const BackendOptions* options, PluginError* error);
}

inline constexpr const char* plugin_file = "liblorikeet_cuda.so";
inline constexpr const char* plugin_abi_name = "lorikeet_backend_abi";
inline constexpr const char* plugin_devices_name = "lorikeet_list_devices";
inline constexpr const char* plugin_backend_name = "lorikeet_make_backend";

}  // namespace lorikeet
