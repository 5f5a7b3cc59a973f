// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/model/model_spec.h"
#include "core/train/settings.h"

namespace lorikeet {

/// What an adapter to go on from brings along: rank, alpha, rslora, dora, targets, and dropout unless another
/// one is asked for (design.md §6, "Precedence"). Its template and system text are carried by choose_format.
/// The other settings are those of `base`.
Settings carried_settings(const ModelSpec& spec, const std::string& adapter_folder,
                          const Settings& base = {});

/// Throws Error(invalid_argument) naming the setting when rank, alpha, rslora, dora or targets ask for
/// another adapter than the one to go on from.
void check_carried(const ModelSpec& spec, const std::string& adapter_folder, const Settings& settings);

}  // namespace lorikeet
