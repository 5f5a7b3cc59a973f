// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/train/run_job.h"

namespace lorikeet {

/// "3:07" minutes and seconds, "2 h 05 min".
std::string duration_text(double seconds);

/// Shows a run in a terminal: a line that is drawn anew at each step (step, loss, tokens/s, time left); where
/// the output is no terminal, plain lines now and then.
class TerminalProgress {
 public:
  TerminalProgress();
  void show(const RunProgress& progress);
  void end();  ///< leaves the cursor on a fresh line

 private:
  void line(const std::string& text);

  bool is_terminal_ = false;
  bool drawn_ = false;
  RunState state_ = RunState::done;
  double smoothed_loss_ = 0;
  std::int64_t steps_shown_ = 0;
};

}  // namespace lorikeet
