// SPDX-License-Identifier: Apache-2.0
#include "core/train/non_finite_guard.h"

#include <cmath>

namespace lorikeet {

std::string rows_text(const StepReport& report) {
  std::string text;
  for (const std::int64_t row : report.rows) text += (text.empty() ? "" : ", ") + std::to_string(row);
  return text;
}

NonFiniteGuard::Verdict NonFiniteGuard::judge(const StepReport& report) {
  const std::string step = "step " + std::to_string(report.step);
  if (!std::isfinite(report.weight_norm)) {
    in_a_row_ = 0;
    why_ = "The adapter holds values that are not finite after " + step + " (rows " + rows_text(report) +
           "). Resume goes back to the last good checkpoint; lower learning-rate if it happens again";
    return Verdict::weights_lost;
  }
  if (!report.skipped) {
    in_a_row_ = 0;
    return Verdict::go_on;
  }
  if (report.searches_scale()) return Verdict::go_on;
  if (++in_a_row_ < most_in_a_row) return Verdict::go_on;
  in_a_row_ = 0;
  why_ =
      std::to_string(most_in_a_row) + " steps in a row, up to " + step +
      ", gave values that are not finite and were skipped; rows of the last: " + rows_text(report) +
      ". Resume goes on with the rows behind them; look at these rows, or lower learning-rate in a new run";
  return Verdict::pause;
}

}  // namespace lorikeet
