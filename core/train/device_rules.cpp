// SPDX-License-Identifier: Apache-2.0
#include "core/train/device_rules.h"

#include <string>

namespace lorikeet {

std::optional<Error> compute_fault(const Settings& settings, const DeviceAbilities& device) {
  if (settings.compute == "bf16" && !device.bf16) {
    return Error(ErrorCode::unsupported, "This device has no bf16 products", "compute",
                 device.f16 ? "Use compute auto, f16 or f32" : "Use compute auto or f32");
  }
  if (settings.compute == "f16" && !device.f16) {
    return Error(ErrorCode::unsupported, "This device has no f16 products", "compute",
                 device.bf16 ? "Use compute auto, bf16 or f32" : "Use compute auto or f32");
  }
  return std::nullopt;
}

std::optional<Error> offload_fault(const Settings& settings, const DeviceAbilities& device) {
  if (!settings.offload || device.is_cuda) return std::nullopt;
  return Error(ErrorCode::unsupported,
               "offload moves activations out of a GPU's memory; there is none in use", "offload",
               "Leave it at false, or use device cuda");
}

std::optional<Error> model_fault(const ModelSpec& spec, const DeviceAbilities& device) {
  constexpr std::int64_t widest_head = 256;  // of the attention kernels (kernels/cuda/attention_rows.cpp)
  if (!device.is_cuda || spec.head_dim <= widest_head) return std::nullopt;
  return Error(ErrorCode::unsupported,
               "This model's heads are " + std::to_string(spec.head_dim) + " wide, more than " +
                   std::to_string(widest_head) + " is not built for CUDA",
               "head_dim", "Use device cpu");
}

}  // namespace lorikeet
