// SPDX-License-Identifier: Apache-2.0
// The entry points of liblorikeet_cuda.so, the only symbols it shows.
#include "kernels/cuda/plugin.h"

#include <algorithm>
#include <exception>
#include <filesystem>

#include "kernels/cuda/cublas_lt_candidates.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/device_list.h"

namespace {

constexpr const char* architectures = LORIKEET_CUDA_ARCHITECTURES;  // CMake's list, with commas

/// Runs `work` and keeps what it throws in `error`.
template <typename Work>
auto guarded(lorikeet::PluginError* error, const Work& work) noexcept -> decltype(work()) {
  try {
    return work();
  } catch (const lorikeet::Error& e) {
    *error = {e.code(), e.message(), e.where(), e.hint()};
  } catch (const std::exception& e) {
    *error = {lorikeet::ErrorCode::device, e.what(), {}, {}};
  }
  return {};
}

}  // namespace

extern "C" {

__attribute__((visibility("default"))) std::uint64_t lorikeet_backend_abi() {
  return lorikeet::plugin_abi();
}

__attribute__((visibility("default"))) bool lorikeet_list_devices(bool start, lorikeet::CudaReport* report,
                                                                  lorikeet::PluginError* error) {
  return guarded(error, [&] {
    *report = lorikeet::cuda::find_devices(architectures, start);
    const std::vector<std::string> candidates = lorikeet::cuda::cublas_lt_candidates();
    const auto is_there = [](const std::string& file) { return std::filesystem::exists(file); };
    if (!report->devices.empty() && std::none_of(candidates.begin(), candidates.end(), is_there))
      report->note +=
          std::string(report->note.empty() ? "" : ". ") +
          "cuBLASLt was not found: large products run on Lorikeet's own kernels, which are slower";
    return true;
  });
}

__attribute__((visibility("default"))) lorikeet::Backend* lorikeet_make_backend(
    const lorikeet::BackendOptions* options, lorikeet::PluginError* error) {
  return guarded(error, [&]() -> lorikeet::Backend* {
    return new lorikeet::cuda::CudaBackend(lorikeet::cuda::first_device(architectures),
                                           options->memory_limit_bytes);
  });
}
}
