// SPDX-License-Identifier: Apache-2.0
#include "core/model/dora.h"

#include "kernels/backend.h"

namespace lorikeet {
namespace {

LoraTerm term_of(const LoraBranch& branch) {
  return {branch.a, branch.b, static_cast<float>(branch.module->scale), {}};
}

/// body(branch, weight) for every role that the adapter changes.
template <typename Body>
void for_each_branch(const BaseModel& model, const LoraAdapter& adapter, const Body& body) {
  for (const LoraModule& module : adapter.modules()) {
    for (const LinearRows& rows : module.rows)
      body(adapter.branch(module.layer, rows.role), rows.role,
           linear_weight(model.layers()[static_cast<std::size_t>(module.layer)], rows.role));
  }
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
  modules_.reserve(adapter.modules().size() * linear_count);  // by_layer_ points into it
  by_layer_.resize(static_cast<std::size_t>(model.spec().layers));
  for_each_branch(model, adapter, [&](const LoraBranch& branch, Linear role, const Weight& weight) {
    const TensorView norms = take(weight.out), gain = take(weight.out);
    modules_.push_back({branch, without_bias(weight), weight.bias, norms, gain});
    by_layer_[static_cast<std::size_t>(branch.module->layer)][role] = &modules_.back();
  });
}

void DoraState::refresh() {
  for (const DoraModule& module : modules_) {
    const LoraTerm term = term_of(module.lora);
    backend_.row_norms(module.bare, &term, module.norms, module.lora.m, module.gain);
  }
}

const DoraModule* DoraState::find(std::int64_t layer, std::size_t which) const {
  return modules_.empty() ? nullptr : by_layer_[static_cast<std::size_t>(layer)][which];
}

void start_magnitudes(BaseModel& model, LoraAdapter& adapter) {
  for_each_branch(model, adapter, [&](const LoraBranch& branch, Linear, const Weight& weight) {
    if (!branch.m) return;
    const LoraTerm term = term_of(branch);
    model.backend().row_norms(weight, &term, branch.m);
  });
}

}  // namespace lorikeet
