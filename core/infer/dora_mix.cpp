// SPDX-License-Identifier: Apache-2.0
#include "core/infer/dora_mix.h"

#include <cmath>

#include "core/model/lora_adapter.h"
#include "kernels/backend.h"

namespace lorikeet {
namespace {

constexpr double smallest_factor = 1.0 / 1024;

std::vector<float> values_of(Backend& backend, const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  backend.download(values.data(), view);
  return values;
}

Tensor uploaded(Backend& backend, Shape shape, const std::vector<float>& values) {
  Tensor tensor = backend.allocate(shape, DType::f32);
  backend.upload(tensor, values.data());
  return tensor;
}

}  // namespace

DoraMix::DoraMix(BaseModel& model, std::span<const StrongAdapter> adapters) {
  std::vector<std::optional<DoraState>> states(adapters.size());
  bool any = false;
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    if (!adapters[i].adapter->config().dora) continue;
    states[i].emplace(model, *adapters[i].adapter);
    states[i]->refresh();
    any = true;
  }
  if (!any) return;
  layers_.resize(static_cast<std::size_t>(model.spec().layers));
  for (std::int64_t layer = 0; layer < model.spec().layers; ++layer) {
    for (std::size_t which = 0; which < linear_count; ++which) {
      for (const auto& state : states) {
        if (!state || !state->find(layer, which)) continue;
        layers_[static_cast<std::size_t>(layer)][which] = make(model, adapters, states, layer, which);
        break;
      }
    }
  }
}

DoraMix::Layer DoraMix::make(BaseModel& model, std::span<const StrongAdapter> adapters,
                             std::span<const std::optional<DoraState>> states, std::int64_t layer,
                             std::size_t which) const {
  Backend& backend = model.backend();
  const Weight& weight = linear_weight(model.layers()[static_cast<std::size_t>(layer)], which);
  const auto outputs = static_cast<std::size_t>(weight.out);
  std::vector<double> factor(outputs, 1.0);
  std::vector<std::vector<float>> gains(adapters.size());
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    const DoraModule* module = states[i] ? states[i]->find(layer, which) : nullptr;
    if (!module) continue;
    gains[i] = values_of(backend, module->gain);
    for (std::size_t j = 0; j < outputs; ++j)
      factor[j] += adapters[i].strength * (static_cast<double>(gains[i][j]) - 1);
  }
  for (double& c : factor) {
    if (std::abs(c) < smallest_factor) c = std::copysign(smallest_factor, c);
  }
  Layer result{without_bias(weight), weight.bias, {}, {}};
  result.factor = uploaded(backend, {weight.out}, {factor.begin(), factor.end()});
  for (std::size_t i = 0; i < adapters.size(); ++i) {
    const LoraBranch branch = adapters[i].adapter->branch(layer, which);
    result.b.emplace_back();
    if (!branch) continue;
    std::vector<float> b = values_of(backend, branch.b);
    for (std::size_t at = 0; at < b.size(); ++at) {
      const std::size_t j = at / static_cast<std::size_t>(branch.module->rank);
      const double gain = gains[i].empty() ? 1 : static_cast<double>(gains[i][j]);
      b[at] = static_cast<float>(static_cast<double>(b[at]) * (adapters[i].strength * gain / factor[j]));
    }
    result.b.back() = uploaded(backend, branch.b.shape, b);
  }
  return result;
}

const DoraMix::Layer* DoraMix::find(std::int64_t layer, std::size_t which) const {
  if (layers_.empty()) return nullptr;
  const auto& found = layers_[static_cast<std::size_t>(layer)][which];
  return found ? &*found : nullptr;
}

}  // namespace lorikeet
