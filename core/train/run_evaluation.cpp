// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "core/train/run.h"

namespace lorikeet {

void Run::note_best(std::int64_t step, double loss) {
  if (!(loss < best_loss_)) return;
  best_loss_ = loss;
  best_step_ = step;
}

void Run::evaluate() {
  const std::int64_t step = trainer_->step_number();
  if (!data_.evaluation.empty() && !std::exchange(known_evaluation_, false)) {
    events_.state(RunState::evaluating);
    const Evaluation result = trainer_->evaluate(between());
    note_best(step, result.loss);
    events_.evaluation({step, result.loss, result.perplexity, result.accuracy, result.tokens});
  }
  samples_->answer(
      std::exchange(known_samples_, 0), between(), [&](const std::string& prompt, const std::string& answer) {
        events_.append({{"type", "sample"}, {"step", step}, {"prompt", prompt}, {"answer", answer}});
      });
  if (!data_.evaluation.empty()) events_.state(RunState::training);
}

}  // namespace lorikeet
