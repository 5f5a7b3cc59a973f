// SPDX-License-Identifier: Apache-2.0
#include "core/train/gradient_check.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>

#include "core/train/trainer.h"

namespace lorikeet {
namespace {

constexpr std::size_t most_named = 8;

using Test = std::function<bool(std::size_t module)>;

/// The finding that the test holds for some of the modules, if it does.
std::optional<GradientCheck::Finding> find(const std::vector<ModuleSquares>& squares, const Test& test,
                                           const std::string& code, const std::string& what) {
  std::string names;
  std::size_t count = 0;
  for (std::size_t i = 0; i < squares.size(); ++i) {
    if (!test(i)) continue;
    if (++count <= most_named) names += (count == 1 ? "" : ", ") + squares[i].module;
  }
  if (count == 0) return std::nullopt;
  if (count > most_named) names += " and " + std::to_string(count - most_named) + " more";
  return GradientCheck::Finding{
      code,
      what + " in " + std::to_string(count) + " of " + std::to_string(squares.size()) + " modules: " + names,
      count == squares.size()};
}

}  // namespace

std::vector<ModuleSquares> module_squares(Backend& backend, const LoraAdapter& adapter, TensorView block) {
  const auto& modules = adapter.modules();
  const auto count = static_cast<std::int64_t>(modules.size());
  const Tensor sums = backend.allocate({2 * count}, DType::f64);
  backend.fill_zero(sums);
  const float* first = adapter.parameters().as<float>();
  for (std::int64_t i = 0; i < count; ++i) {
    const LoraModule& module = modules[static_cast<std::size_t>(i)];
    for (const TensorView& half : {module.a, module.b}) {
      const TensorView place = block.row_range(half.as<float>() - first, half.elements());
      backend.sum_of_squares(place, sums.view().row_range(half.data == module.a.data ? 2 * i : 2 * i + 1, 1));
    }
  }
  std::vector<double> values(static_cast<std::size_t>(2 * count));
  backend.download(values.data(), sums);
  std::vector<ModuleSquares> squares;
  for (std::size_t i = 0; i < modules.size(); ++i) {
    squares.push_back({"model.layers." + std::to_string(modules[i].layer) + "." + modules[i].name,
                       values[2 * i], values[2 * i + 1]});
  }
  return squares;
}

GradientCheck::GradientCheck(Backend& backend, const LoraAdapter& adapter)
    : backend_(backend), adapter_(adapter), start_(module_squares(backend, adapter, adapter.parameters())) {}

std::vector<GradientCheck::Finding> GradientCheck::after_step(const StepReport& report,
                                                              TensorView gradients) {
  std::vector<Finding> findings;
  if (done() || report.skipped) return findings;
  const auto add = [&](std::optional<Finding> finding) {
    if (finding) findings.push_back(std::move(*finding));
  };
  const std::string step = "Step " + std::to_string(report.step);
  const auto slopes = module_squares(backend_, adapter_, gradients);
  if (stage_ == Stage::second_step) {
    add(find(
        slopes, [&](std::size_t i) { return slopes[i].a == 0; }, "no_gradient",
        step + " gave A no gradient"));
    stage_ = Stage::done;
    return findings;
  }
  if (stage_ == Stage::first_step) {
    add(find(
        slopes, [&](std::size_t i) { return slopes[i].b == 0; }, "no_gradient",
        step + " gave B no gradient"));
    stage_ = Stage::first_rate;
  }
  if (report.learning_rate > 0) {
    const auto now = module_squares(backend_, adapter_, adapter_.parameters());
    add(find(
        now, [&](std::size_t i) { return now[i].b == start_[i].b; }, "not_moved",
        step + " did not change B"));
    stage_ = Stage::second_step;
  }
  return findings;
}

}  // namespace lorikeet
