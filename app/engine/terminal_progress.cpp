// SPDX-License-Identifier: Apache-2.0
#include "app/engine/terminal_progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace lorikeet {
namespace {

constexpr std::int64_t bar_width = 24;

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(std::max(0.0, seconds)));
  if (whole >= 3600) return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

TerminalProgress::TerminalProgress() : is_terminal_(::isatty(STDOUT_FILENO) != 0) {}

void TerminalProgress::line(const std::string& text) {
  if (drawn_) std::fputs("\r\x1b[K", stdout);
  drawn_ = false;
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

void TerminalProgress::show(const RunProgress& progress) {
  if (progress.step) {
    const StepEvent& step = *progress.step;
    smoothed_loss_ = steps_shown_++ == 0 ? step.loss : 0.9 * smoothed_loss_ + 0.1 * step.loss;
    const std::int64_t total = std::max<std::int64_t>(1, progress.total_steps);
    const std::int64_t filled = std::min(bar_width, step.step * bar_width / total);
    const std::string bar = std::string(static_cast<std::size_t>(filled), '#') +
                            std::string(static_cast<std::size_t>(bar_width - filled), '.');
    const std::string text = fmt::format(
        "[{}] step {}/{}  loss {:.3f} (smoothed {:.3f})  {:.0f} tokens/s  {} left", bar, step.step, total,
        step.loss, smoothed_loss_, step.tokens_per_second, duration_text(progress.seconds_left));
    if (is_terminal_) {
      std::printf("\r\x1b[K%s", text.c_str());
      std::fflush(stdout);
      drawn_ = true;
    } else if (step.step == 1 || step.step == total ||
               step.step % std::max<std::int64_t>(1, total / 20) == 0) {
      line(text);
    }
    return;
  }
  if (progress.evaluation) {
    line(fmt::format("Evaluation at step {}: loss {:.4f}, perplexity {:.2f}", progress.evaluation->step,
                     progress.evaluation->loss, progress.evaluation->perplexity));
    return;
  }
  if (progress.warning) {
    line("Look: " + progress.warning->what);
    return;
  }
  const bool worth_a_line = progress.state != RunState::training && progress.state != RunState::evaluating;
  if (worth_a_line &&
      (!progress.why.empty() || (progress.state != state_ && progress.state != RunState::done))) {
    line(progress.why.empty() ? std::string(to_string(progress.state)) : progress.why);
  }
  state_ = progress.state;
}

void TerminalProgress::end() {
  if (drawn_) std::fputs("\n", stdout);
  drawn_ = false;
}

}  // namespace lorikeet
