// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>
#include <utility>

#include "core/train/checkpoint.h"
#include "core/train/run.h"
#include "kernels/base/error.h"

namespace lorikeet {

using Verdict = NonFiniteGuard::Verdict;

void Run::guard(const StepReport& report) {
  if (gradient_check_) {
    std::vector<GradientCheck::Finding> findings;
    go_on_after("gradients", "The check of the gradients",
                [&] { findings = gradient_check_->after_step(report, trainer_->gradients()); });
    for (const auto& finding : findings) {
      if (finding.nothing_learns) {
        throw Error(ErrorCode::numeric, finding.what + ": nothing would be learned", "",
                    "Look at the data as tokens, and at learning-rate");
      }
      events_.warning(finding.code.c_str(), finding.what, report.step);
    }
    if (gradient_check_->done()) gradient_check_.reset();
  }
  verdict_ = guard_.judge(report);
  if (verdict_ == Verdict::go_on) return;
  events_.warning(verdict_ == Verdict::weights_lost ? "weights_lost" : "not_finite", guard_.why(),
                  report.step);
  control_.pause();
}

/// The adapter is lost: nothing of it is saved. Waits for a person, and then goes on from the last
/// checkpoint.
void Run::wait_and_go_back() {
  wait_while_paused(guard_.why());
  if (go_back()) return;
  throw Error(ErrorCode::numeric, guard_.why() + ", and there is no checkpoint to go back to", folder_.path(),
              "Start again with a lower learning-rate");
}

/// False when there is no checkpoint.
bool Run::go_back() {
  const std::string newest = newest_checkpoint(folder_);
  if (newest.empty()) return false;
  trainer_->restore(newest);
  verdict_ = Verdict::go_on;
  events_.append({{"type", "resume"}, {"from_step", trainer_->step_number()}});
  recall_evaluations(folder_.read_history(), true);
  return true;
}

}  // namespace lorikeet
