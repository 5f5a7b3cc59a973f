// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>

#include "core/model/base_model.h"
#include "core/train/plan.h"
#include "core/train/settings.h"

namespace lorikeet {

/// The back end that device, threads and memory-limit ask for; Error(unsupported) where it has no use for
/// offload.
std::unique_ptr<Backend> make_backend_for(const Settings& settings);
/// Throws Error(unsupported) when the settings ask for offload on a device that is the host itself.
void require_offload(const Settings& settings, const Backend& backend);
/// Throws Error(unsupported) for a model that the device has no kernels for.
void require_model(const ModelSpec& spec, const Backend& backend);

/// The compute type the settings ask for on this device: auto is bf16 at hardware speed, else f16 where there
/// is that (GPUs of compute capability 7.5), else f32. Throws Error(unsupported) for one the device lacks.
DType resolved_compute(const Settings& settings, const Backend& backend);

/// How the setting quantization keeps linear layers; "none" is the compute type.
WeightFormat linear_format(const std::string& quantization, DType compute);

/// What the plan needs to know of this back end.
PlanDevice plan_device(Backend& backend, DType compute);

/// Loads a base model in the formats the settings and the compute type ask for. `path` is a folder or GGUF
/// file.
BaseModel load_base_model(Backend& backend, const std::string& path, const ModelSpec& spec,
                          const Settings& settings, DType compute, std::stop_token stop = {},
                          const BaseModel::Progress& progress = {});

/// Linear stretch of RoPE: only when max-length is set above the context (design.md §10); 1 = none.
/// Dynamic scaling stretches by itself.
double rope_linear_factor(const ModelSpec& spec, std::int64_t max_length);

}  // namespace lorikeet
