// SPDX-License-Identifier: Apache-2.0
#include "core/model/dora.h"

#include <algorithm>

#include "core/model/lora_adapter.h"
#include "kernels/backend.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

LoraTerm branch_of(const LoraModule& module) {
  return {module.a, module.b, static_cast<float>(module.scale), {}};
}

const Weight& weight_of(const BaseModel& model, const LoraModule& module) {
  return linear_weight(model.layers()[static_cast<std::size_t>(module.layer)], linear_index(module.name));
}

}  // namespace

DoraState::DoraState(BaseModel& model, const LoraAdapter& adapter) : backend_(model.backend()) {
  if (!adapter.config().dora) return;
  std::int64_t outputs = 0;
  for (const LoraModule& module : adapter.modules()) outputs += module.out;
  storage_ = backend_.allocate({2 * outputs}, DType::f32);
  float* next = storage_.view().as<float>();
  const auto take = [&](std::int64_t count) {
    const TensorView view{next, DType::f32, {count}};
    next += count;
    return view;
  };
  modules_.reserve(adapter.modules().size());  // by_layer_ points into it
  by_layer_.resize(static_cast<std::size_t>(model.spec().layers));
  for (const LoraModule& module : adapter.modules()) {
    const Weight& weight = weight_of(model, module);
    const TensorView norms = take(module.out), gain = take(module.out);
    modules_.push_back({&module, without_bias(weight), weight.bias, norms, gain});
    by_layer_[static_cast<std::size_t>(module.layer)][linear_index(module.name)] = &modules_.back();
  }
}

void DoraState::refresh() {
  for (const DoraModule& module : modules_) {
    const LoraTerm branch = branch_of(*module.lora);
    backend_.row_norms(module.bare, &branch, module.norms, module.lora->m, module.gain);
  }
}

const DoraModule* DoraState::find(std::int64_t layer, std::size_t which) const {
  return modules_.empty() ? nullptr : by_layer_[static_cast<std::size_t>(layer)][which];
}

void start_magnitudes(BaseModel& model, LoraAdapter& adapter) {
  for (const LoraModule& module : adapter.modules()) {
    if (!module.m) continue;
    const LoraTerm branch = branch_of(module);
    model.backend().row_norms(weight_of(model, module), &branch, module.m);
  }
}

std::size_t linear_index(const std::string& name) {
  const auto found = std::find(linear_names.begin(), linear_names.end(), name);
  if (found == linear_names.end())
    throw Error(ErrorCode::invalid_argument, "There is no such linear layer", name);
  return static_cast<std::size_t>(found - linear_names.begin());
}

const Weight& linear_weight(const LayerWeights& layer, std::size_t which) {
  const std::array<const Weight*, linear_count> all = {&layer.q,    &layer.k,  &layer.v,   &layer.o,
                                                       &layer.gate, &layer.up, &layer.down};
  return *all[which];
}

}  // namespace lorikeet
