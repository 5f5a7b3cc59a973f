// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/model/lora_adapter.h"
#include "kernels/backend.h"

namespace lorikeet {

struct StepReport;

/// Sum of squares of one module's A and B in a block laid out as the adapter's parameters (the parameters
/// themselves, or a step's gradients). Not finite when a value is not.
struct ModuleSquares {
  std::string module;  ///< path, "model.layers.0.self_attn.q_proj"
  double a = 0, b = 0;
};
/// One entry for each module of `adapter`, in its order. The device sums, and 16 bytes a module come back.
std::vector<ModuleSquares> module_squares(Backend& backend, const LoraAdapter& adapter, TensorView block);

/// Watches the first steps of a run for parts of the adapter that do not learn (a silent fault: the loss
/// still falls a little): at the first step every B has a gradient; after the first step whose rate is above
/// 0 every B has moved, and in the step behind it every A has a gradient. Steps that were skipped say
/// nothing.
class GradientCheck {
 public:
  struct Finding {
    std::string code;             ///< "no_gradient", "not_moved"
    std::string what;             ///< a sentence naming step and modules
    bool nothing_learns = false;  ///< it holds for every module of the adapter
  };

  /// Takes B as it is now. Both must outlive the check.
  GradientCheck(Backend& backend, const LoraAdapter& adapter);

  bool done() const { return stage_ == Stage::done; }
  /// Call after each finished step until done(). `gradients` are of this step: no further one may have begun.
  std::vector<Finding> after_step(const StepReport& report, TensorView gradients);

 private:
  enum class Stage : std::uint8_t { first_step, first_rate, second_step, done };

  Backend& backend_;
  const LoraAdapter& adapter_;
  std::vector<ModuleSquares> start_;
  Stage stage_ = Stage::first_step;
};

}  // namespace lorikeet
