// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "core/model/base_model.h"
#include "core/train/settings.h"

namespace lorikeet {

/// The back end that device, threads and memory-limit ask for.
std::unique_ptr<Backend> make_backend_for(const Settings& settings);

/// The compute type the settings ask for on this device; throws Error(unsupported) for one it lacks.
DType resolved_compute(const Settings& settings, const Backend& backend);

/// Loads a base model in the formats the settings and the compute type ask for. `path` is a folder or GGUF
/// file.
BaseModel load_base_model(Backend& backend, const std::string& path, const ModelSpec& spec,
                          const Settings& settings, DType compute, std::stop_token stop = {},
                          const BaseModel::Progress& progress = {});

/// Linear stretch of RoPE: only when max-length is set above the context (design.md §10); 1 = none.
double rope_linear_factor(const ModelSpec& spec, std::int64_t max_length);

}  // namespace lorikeet
