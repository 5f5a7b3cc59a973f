// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "core/model/activation_plan.h"
#include "core/model/base_model.h"
#include "core/model/lora_adapter.h"

namespace lorikeet {

/// One linear layer (of a fused one a part) with magnitude and direction apart: y = gain o (W x + scale B A
/// x) + bias, gain = m / norms, norms those of the rows of W + scale B A (formats.md §3.6).
struct DoraModule {
  LoraBranch lora;
  Weight bare;      ///< the layer's weight without its bias, which is not scaled; borrowed from the base
  TensorView bias;  ///< f32 [out] or empty
  TensorView norms, gain;  ///< f32 [out]
};

/// What a DoRA adapter and a base model make together: norms and gains of every adapted layer, made again
/// when the adapter has changed. Adapter and base must outlive it.
class DoraState {
 public:
  /// Makes nothing of an adapter without magnitudes. Norms and gains are not made yet.
  DoraState(BaseModel& model, const LoraAdapter& adapter);

  /// Norms and gains of the adapter as it stands on the device; not waited for.
  void refresh();
  bool empty() const { return modules_.empty(); }
  /// The module of a layer or nullptr.
  const DoraModule* find(std::int64_t layer, std::size_t which) const;

 private:
  Backend& backend_;
  Tensor storage_;
  std::vector<DoraModule> modules_;
  std::vector<std::array<const DoraModule*, linear_count>> by_layer_;
};

/// Gives every magnitude of a fresh DoRA adapter its start value, the norm of its row of W + scale B A, so
/// that the model is what it was.
void start_magnitudes(BaseModel& model, LoraAdapter& adapter);

}  // namespace lorikeet
