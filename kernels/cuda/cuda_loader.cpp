// SPDX-License-Identifier: Apache-2.0
// Loads the CUDA plug-in from the folder of the running program, and from nowhere else.
#include "kernels/cuda/cuda_loader.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "kernels/base/error.h"
#include "kernels/cuda/plugin.h"

namespace lorikeet {
namespace {

struct Plugin {
  PluginDevices* devices = nullptr;
  PluginBackend* backend = nullptr;
  std::string reason;  ///< why it cannot be used; empty = it can
};

/// The plug-in stays loaded until the process ends: an exception on its way through the program, or a back
/// end, may have its code there.
Plugin load_plugin() {
  Plugin plugin;
  std::error_code status;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", status);
  const std::filesystem::path file = program.parent_path() / plugin_file;
  if (status || !std::filesystem::exists(file, status)) {
    plugin.reason = std::string("CUDA is not used: ") + plugin_file + " is not beside the program";
    return plugin;
  }
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (!library) {
    plugin.reason = std::string("CUDA is not used: ") + dlerror();
    return plugin;
  }
  const auto abi = reinterpret_cast<PluginAbi*>(dlsym(library, plugin_abi_name));
  plugin.devices = reinterpret_cast<PluginDevices*>(dlsym(library, plugin_devices_name));
  plugin.backend = reinterpret_cast<PluginBackend*>(dlsym(library, plugin_backend_name));
  if (!abi || !plugin.devices || !plugin.backend || abi() != plugin_abi()) {
    plugin.reason =
        std::string("CUDA is not used: ") + plugin_file + " belongs to another version of the program";
  }
  return plugin;
}

}  // namespace

CudaReport list_cuda_devices(bool start) {
  const Plugin plugin = load_plugin();
  CudaReport report{{}, plugin.reason, {}};
  if (!report.reason.empty()) return report;
  PluginError error;
  if (plugin.devices(start, &report, &error)) return report;
  if (start) throw Error(error.code, error.message, error.where, error.hint);
  report = {{}, "CUDA is not used: " + error.message, {}};
  return report;
}

std::unique_ptr<Backend> make_cuda_backend(const BackendOptions& options) {
  const Plugin plugin = load_plugin();
  if (!plugin.reason.empty()) {
    throw Error(ErrorCode::unsupported, plugin.reason, "device cuda", "Use device cpu or auto");
  }
  PluginError error;
  std::unique_ptr<Backend> backend(plugin.backend(&options, &error));
  if (!backend) throw Error(error.code, error.message, error.where, error.hint);
  return backend;
}

}  // namespace lorikeet
