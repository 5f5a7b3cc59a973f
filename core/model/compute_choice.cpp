// SPDX-License-Identifier: Apache-2.0
#include "core/model/compute_choice.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/model/check_model.h"
#include "core/model/weight_source.h"
#include "core/train/device_rules.h"
#include "core/train/gpu_models.h"
#include "core/train/plan.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

WeightFormat wide_format(DType compute) {
  if (compute == DType::f32) return WeightFormat::f32;
  return compute == DType::f16 ? WeightFormat::f16 : WeightFormat::bf16;
}

DeviceAbilities abilities_of(const Backend& backend) {
  return {backend.device().kind == "cuda", backend.supports(DType::bf16), backend.supports(DType::f16)};
}

/// 89 of "compute 8.9", 0 where it does not say.
int capability_of(const DeviceInfo& info) {
  const std::size_t number = info.instruction_set.find_first_of("0123456789");
  if (number == std::string::npos) return 0;
  return static_cast<int>(std::lround(10 * std::strtod(info.instruction_set.c_str() + number, nullptr)));
}

}  // namespace

WeightFormat linear_format(const std::string& quantization, DType compute) {
  if (quantization == "nf4") return WeightFormat::nf4;
  if (quantization == "nf4-single") return WeightFormat::nf4_single;
  if (quantization == "fp4") return WeightFormat::fp4;
  if (quantization == "int8") return WeightFormat::int8;
  return wide_format(compute);
}

std::unique_ptr<Backend> make_backend_for(const Settings& settings) {
  BackendOptions options;
  options.device = settings.device;
  options.threads = static_cast<int>(settings.threads);
  // A GPU is started first: what is free is read when the context and the code are on the card, so they are
  // neither counted as free nor taken off twice. The tenth that is left is for what the libraries load later.
  const DeviceReport report = list_devices(settings.device != "cpu");
  const DeviceInfo& device = chosen_device(report, settings.device);
  options.memory_limit_bytes =
      resolved_memory_limit(settings, device.memory_free_bytes, device.kind == "cuda");
  auto backend = make_backend(options);
  require_offload(settings, *backend);
  return backend;
}

void require_offload(const Settings& settings, const Backend& backend) {
  if (const auto fault = offload_fault(settings, abilities_of(backend))) throw *fault;
}

void require_model(const ModelSpec& spec, const Backend& backend) {
  if (const auto fault = model_fault(spec, abilities_of(backend))) throw *fault;
}

DType resolved_compute(const Settings& settings, const Backend& backend) {
  const DeviceAbilities device = abilities_of(backend);
  if (const auto fault = compute_fault(settings, device)) throw *fault;
  if (settings.compute == "bf16") return DType::bf16;
  if (settings.compute == "f16") return DType::f16;
  if (settings.compute == "f32") return DType::f32;
  if (device.bf16 && backend.device().has_bf16) return DType::bf16;
  return device.f16 ? DType::f16 : DType::f32;
}

PlanDevice plan_device(Backend& backend, DType compute) {
  const DeviceInfo& info = backend.device();
  PlanDevice device;
  device.memory_limit_bytes = backend.budget().limit_bytes();
  device.compute_bytes = static_cast<int>(size_of(compute));
  device.is_cuda = info.kind == "cuda";
  device.threads = info.threads;
  device.widens_products = !device.is_cuda && compute != DType::f32 && !info.has_bf16;
  if (device.is_cuda) {
    const DeviceReport report = list_devices();
    const DeviceInfo& processor = chosen_device(report, "cpu");
    device.host_free_bytes = processor.memory_free_bytes;
    device.cpu_compute_bytes = processor.has_bf16 ? 2 : 4;
    device.compute_capability = capability_of(info);
    if (const GpuModel* gpu = known_gpu(info.name)) {
      device.operations_per_second = gpu->operations_per_second;
      device.bytes_per_second = gpu->bytes_per_second;
    }
  } else {
    // A core of today: two units of 16 f32 (or 8, or 4), twice as many 16-bit products.
    const double lanes = info.instruction_set.starts_with("avx512") ? 16
                         : info.instruction_set == "avx2"           ? 8
                                                                    : 4;
    const double wide = device.compute_bytes == 2 && info.has_bf16 ? 2 : 1;
    device.operations_per_second = info.threads * lanes * wide * 2 * 2 * 3.5e9;
    device.bytes_per_second = 30e9;
  }
  return device;
}

namespace {

/// A model that is too large is refused with numbers before minutes are spent on loading some of it.
void require_room(Backend& backend, const std::string& path, const ModelSpec& spec, const Settings& settings,
                  DType compute) {
  const MemoryBudget& budget = backend.budget();
  const std::uint64_t needed = base_bytes(spec, settings, size_of(compute));
  const std::uint64_t left = budget.limit_bytes() - std::min(budget.limit_bytes(), budget.used_bytes());
  if (budget.limit_bytes() == 0 || needed <= left) return;
  throw Error(ErrorCode::out_of_memory,
              "The model needs " + std::to_string(needed >> 20) + " MiB of memory, " +
                  std::to_string(left >> 20) + " MiB are left",
              path, "Take a smaller model, quantization nf4 or another device, or raise memory-limit");
}

}  // namespace

BaseModel load_base_model(Backend& backend, const std::string& path, const ModelSpec& spec,
                          const Settings& settings, DType compute, std::stop_token stop,
                          const BaseModel::Progress& progress) {
  require_model(spec, backend);
  const auto source = open_weight_source(path);
  require_complete_model(spec, *source);
  require_room(backend, path, spec, settings, compute);
  return BaseModel::load(backend, spec, *source, linear_format(settings.quantization, compute),
                         wide_format(compute), std::move(stop), progress);
}

double rope_linear_factor(const ModelSpec& spec, std::int64_t max_length) {
  if (spec.rope.kind == RopeSpec::Kind::dynamic) return 1.0;
  return max_length > spec.context ? static_cast<double>(max_length) / static_cast<double>(spec.context)
                                   : 1.0;
}

}  // namespace lorikeet
