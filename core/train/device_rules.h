// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "core/model/model_spec.h"
#include "core/train/settings.h"
#include "kernels/base/error.h"

namespace lorikeet {

/// What a device can do, as far as settings and models ask for it.
struct DeviceAbilities {
  bool is_cuda = false;
  bool bf16 = true, f16 = false;  ///< compute types besides f32
};

/// What the engine refuses of these settings, or this model, on such a device: Error(unsupported) with what
/// to use instead. The same for `lorikeet train`, `lorikeet plan` and the studio, which asks before anything
/// is started.
std::optional<Error> compute_fault(const Settings& settings, const DeviceAbilities& device);
std::optional<Error> offload_fault(const Settings& settings, const DeviceAbilities& device);
std::optional<Error> model_fault(const ModelSpec& spec, const DeviceAbilities& device);

}  // namespace lorikeet
