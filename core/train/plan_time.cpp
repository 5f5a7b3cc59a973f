// SPDX-License-Identifier: Apache-2.0
#include "core/train/plan_time.h"

#include <algorithm>
#include <utility>

namespace lorikeet {

double estimated_seconds(const ModelSpec& spec, const DataShape& data, const Settings& settings,
                         const PlanDevice& device, const Plan& plan) {
  if (device.operations_per_second <= 0 || device.bytes_per_second <= 0) return 0;
  constexpr double reached = 0.5;          // of the products' ceiling
  constexpr double transfer_speed = 10e9;  // PCIe to page-locked memory, bytes a second
  const Operations each = training_operations(spec, settings, plan.recomputed_layers);
  TokenCounts counts = data.counts();
  const double batches = std::exchange(counts.batches, 0.0);
  const double speed = device.compute_bytes == 4 ? 0.25 : 1;  // f32 products
  const double products = each.of(counts) / (reached * speed * device.operations_per_second);

  // Forward, recomputation and backward each read the stored weights and, where they are expanded, write and
  // read them in the compute type.
  const double layers = static_cast<double>(std::max<std::int64_t>(1, spec.layers));
  const double passes = 2 + static_cast<double>(plan.recomputed_layers) / layers;
  const double stored = static_cast<double>(plan.memory.base_weights);
  const double expanded = settings.quantization == "none"
                              ? 0
                              : 2.0 * device.compute_bytes * static_cast<double>(spec.linear_parameters());
  const double weights = batches * passes * (stored + expanded) / device.bytes_per_second;
  const double state = static_cast<double>(plan.memory.trained() * 2 + plan.memory.optimizer * 2);
  const double updates = static_cast<double>(plan.steps_per_epoch) * state / device.bytes_per_second;

  double transfers = 0;
  if (settings.offload && plan.recomputed_layers > 0) {
    const double moved = 2.0 * counts.tokens * static_cast<double>(spec.hidden_size * device.compute_bytes) *
                         static_cast<double>(plan.recomputed_layers + 1);
    transfers = std::max(0.02 * products, moved / transfer_speed - products);  // mostly behind the products
  }
  const double epochs =
      static_cast<double>(plan.steps) / static_cast<double>(std::max<std::int64_t>(1, plan.steps_per_epoch));
  return epochs * (products + weights + updates + transfers);
}

}  // namespace lorikeet
