// SPDX-License-Identifier: Apache-2.0
#include "core/train/gpu_models.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Small letters and digits only, without the maker's family names.
std::string key_of(const std::string& text) {
  std::string key;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      key += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (const char* word : {"nvidia", "geforce", "tesla", "graphics", "generation", "rtx"}) {
    if (const std::size_t at = key.find(word); at != std::string::npos)
      key.erase(at, std::string(word).size());
  }
  return key;
}

}  // namespace

const std::vector<GpuModel>& gpu_models() {
  // Data sheets; T4's products are what it sustains in its 70 W.
  static const std::vector<GpuModel> models = {{"RTX 4060", 8188, 89, 30e12, 272e9},
                                               {"RTX 3060 12GB", 12288, 86, 25.5e12, 360e9},
                                               {"RTX 4060 Ti 16GB", 16380, 89, 44e12, 288e9},
                                               {"RTX 3090", 24576, 86, 71e12, 936e9},
                                               {"A100 80GB", 81920, 80, 312e12, 2039e9},
                                               {"RTX 2060", 6144, 75, 26e12, 336e9},
                                               {"RTX 2080 Ti", 11264, 75, 54e12, 616e9},
                                               {"T4", 15360, 75, 25e12, 300e9},
                                               {"RTX 3070", 8192, 86, 40.6e12, 448e9},
                                               {"RTX 3080", 10240, 86, 59.5e12, 760e9},
                                               {"RTX 4070 Ti", 12282, 89, 80e12, 504e9},
                                               {"RTX 4070", 12282, 89, 58e12, 504e9},
                                               {"RTX 4080", 16376, 89, 97.5e12, 717e9},
                                               {"RTX 4090", 24564, 89, 165e12, 1008e9},
                                               {"RTX 5060 Ti 16GB", 16311, 120, 47e12, 448e9},
                                               {"RTX 5070", 12227, 120, 61.7e12, 672e9},
                                               {"RTX 5080", 16303, 120, 112e12, 960e9},
                                               {"RTX 5090", 32607, 120, 209e12, 1792e9},
                                               {"A10", 23028, 86, 125e12, 600e9},
                                               {"L4", 23034, 89, 121e12, 300e9},
                                               {"L40S", 46068, 89, 362e12, 864e9},
                                               {"RTX A6000", 49140, 86, 155e12, 768e9},
                                               {"A100 40GB", 40960, 80, 312e12, 1555e9},
                                               {"H100", 81559, 90, 989e12, 3350e9},
                                               {"H200", 143771, 90, 989e12, 4800e9}};
  return models;
}

const GpuModel& find_gpu(const std::string& text) {
  constexpr std::pair<const char*, const char*> by_size[] = {{"8gb", "RTX 4060"},
                                                             {"12gb", "RTX 3060 12GB"},
                                                             {"16gb", "RTX 4060 Ti 16GB"},
                                                             {"24gb", "RTX 3090"},
                                                             {"80gb", "A100 80GB"}};
  std::string key = key_of(text);
  for (const auto& [size, name] : by_size) {
    if (key == size) key = key_of(name);
  }
  const GpuModel* partly = nullptr;
  for (const GpuModel& model : gpu_models()) {
    const std::string name = key_of(model.name);
    if (name == key) return model;
    // "3060" and "4090" are enough; "L4" is not "L40S".
    const bool sized = name.starts_with(key) && name.substr(key.size()).ends_with("gb");
    if (!key.empty() && sized && !partly) partly = &model;
  }
  if (partly) return *partly;
  std::string names;
  for (const GpuModel& model : gpu_models()) names += (names.empty() ? "" : ", ") + model.name;
  throw Error(ErrorCode::not_found, "No GPU named \"" + text + "\" is known", "gpu",
              "Use 8GB, 12GB, 16GB, 24GB, 80GB or one of " + names);
}

const GpuModel* known_gpu(const std::string& device_name) {
  const std::string device = key_of(device_name);  // for example "NVIDIA A100-SXM4-80GB"
  const GpuModel* best = nullptr;
  std::size_t longest = 0;
  for (const GpuModel& model : gpu_models()) {
    // The size stands elsewhere in a driver's name, or nowhere.
    const std::string first = key_of(model.name.substr(
        0, model.name.find_last_of("GB") == model.name.size() - 1 ? model.name.find_last_of(' ')
                                                                  : std::string::npos));
    if (!device.starts_with(first) || first.size() <= longest) continue;
    best = &model;
    longest = first.size();
  }
  return best;
}

PlanDevice plan_device(const GpuModel& gpu, const Settings& settings) {
  PlanDevice device;
  const std::uint64_t memory = static_cast<std::uint64_t>(gpu.memory_mib) << 20;
  device.memory_limit_bytes = resolved_memory_limit(settings, memory - gpu_context_bytes, true);
  device.compute_bytes = settings.compute == "f32" ? 4 : 2;
  device.is_cuda = true;
  device.compute_capability = gpu.compute_capability;
  device.operations_per_second = gpu.operations_per_second;
  device.bytes_per_second = gpu.bytes_per_second;
  return device;
}

}  // namespace lorikeet
