// SPDX-License-Identifier: Apache-2.0
#include "core/model/compute_choice.h"

#include "core/model/check_model.h"
#include "core/model/weight_source.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

WeightFormat linear_format(const Settings& settings, DType compute) {
  if (settings.quantization == "nf4") return WeightFormat::nf4;
  if (settings.quantization == "nf4-single") return WeightFormat::nf4_single;
  return compute == DType::f32 ? WeightFormat::f32 : WeightFormat::bf16;
}

}  // namespace

std::unique_ptr<Backend> make_backend_for(const Settings& settings) {
  BackendOptions options;
  options.device = settings.device;
  options.threads = static_cast<int>(settings.threads);
  const DeviceReport report = list_devices();
  options.memory_limit_bytes =
      resolved_memory_limit(settings, chosen_device(report, settings.device).memory_free_bytes);
  return make_backend(options);
}

DType resolved_compute(const Settings& settings, const Backend& backend) {
  const bool has_bf16 = backend.supports(DType::bf16);
  if (settings.compute == "bf16" && !has_bf16) {
    throw Error(ErrorCode::unsupported, "This device has no bf16 products", "compute",
                "Use compute auto or f32");
  }
  if (settings.compute == "f32") return DType::f32;
  return settings.compute == "bf16" || (has_bf16 && backend.device().has_bf16) ? DType::bf16 : DType::f32;
}

BaseModel load_base_model(Backend& backend, const std::string& path, const ModelSpec& spec,
                          const Settings& settings, DType compute, std::stop_token stop,
                          const BaseModel::Progress& progress) {
  const auto source = open_weight_source(path);
  require_complete_model(spec, *source);
  const WeightFormat wide = compute == DType::f32 ? WeightFormat::f32 : WeightFormat::bf16;
  return BaseModel::load(backend, spec, *source, linear_format(settings, compute), wide, std::move(stop),
                         progress);
}

double rope_linear_factor(const ModelSpec& spec, std::int64_t max_length) {
  return max_length > spec.context ? static_cast<double>(max_length) / static_cast<double>(spec.context)
                                   : 1.0;
}

}  // namespace lorikeet
