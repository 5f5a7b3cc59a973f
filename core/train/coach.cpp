// SPDX-License-Identifier: Apache-2.0
#include "core/train/coach.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

namespace lorikeet {
namespace {

/// Below this many steps a curve says nothing.
constexpr std::size_t fewest_steps = 12;

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// The losses of a run with what is needed to judge them.
struct Curve {
  std::vector<const StepEvent*> steps;  ///< those with a finite loss
  std::size_t window = 1;               ///< steps that are judged together
  std::vector<double> medians;          ///< of the windows from the first step on; a rest joins the last one
  double noise = 0;                     ///< standard deviation of one step's loss around its neighbours
  double start = 0;                     ///< before the first step: by evaluation where there is one

  double last() const { return medians.back(); }
  /// How much two windows may differ by chance (four standard deviations of a difference of medians).
  double chance() const { return 4 * noise * std::sqrt(2.0 * 1.57 / static_cast<double>(window)); }
};

Curve curve_of(const RunHistory& history) {
  Curve curve;
  for (const auto& step : history.steps) {
    if (std::isfinite(step.loss) && step.trained_tokens > 0) curve.steps.push_back(&step);
  }
  const std::size_t count = curve.steps.size();
  if (count == 0) return curve;
  curve.window = std::clamp<std::size_t>(count / 12, 3, 50);
  const std::size_t windows = std::max<std::size_t>(1, count / curve.window);
  std::vector<double> turns;
  for (std::size_t i = 1; i + 1 < count; ++i) {
    turns.push_back(
        std::abs(curve.steps[i]->loss - (curve.steps[i - 1]->loss + curve.steps[i + 1]->loss) / 2));
  }
  // For independent noise of deviation s the middle differs from its neighbours' mean by s * sqrt(3/2), and
  // the median of the absolute value of a normal number is 0.6745 deviations.
  curve.noise = median(std::move(turns)) / 0.6745 / std::sqrt(1.5);
  for (std::size_t i = 0; i < windows; ++i) {
    const std::size_t end = i + 1 == windows ? count : (i + 1) * curve.window;
    std::vector<double> losses;
    for (std::size_t j = i * curve.window; j < end; ++j) losses.push_back(curve.steps[j]->loss);
    curve.medians.push_back(median(std::move(losses)));
  }
  const auto& evaluations = history.evaluations;
  const bool evaluated =
      !evaluations.empty() && evaluations.front().step == 0 && std::isfinite(evaluations.front().loss);
  curve.start = evaluated ? evaluations.front().loss : curve.medians.front();
  return curve;
}

double peak_rate(const Curve& curve) {
  double peak = 0;
  for (const auto* step : curve.steps) peak = std::max(peak, step->learning_rate);
  return peak;
}

/// A rate as a person writes it: one digit.
std::string rate_text(double rate) {
  return fmt::format("{:.0e}", rate);
}

std::vector<std::pair<std::string, std::string>> rate_times(const Settings& settings, double factor) {
  return {{"learning-rate", rate_text(settings.learning_rate * factor)}};
}

std::string lower_rate_text(const Settings& settings, double factor) {
  return fmt::format("Go on from a checkpoint before it with a learning rate of {} instead of {}.",
                     rate_text(settings.learning_rate * factor), rate_text(settings.learning_rate));
}

std::optional<Advice> find_not_finite(const RunHistory& history, const Settings& settings) {
  std::int64_t skipped = 0;
  std::string rows;
  for (const auto& warning : history.warnings) {
    if (warning.code != "skipped_step") continue;
    ++skipped;
    const auto at = warning.what.find("rows ");
    if (at != std::string::npos) rows = warning.what.substr(at + 5);
  }
  const auto bad = std::find_if(history.steps.begin(), history.steps.end(),
                                [](const StepEvent& step) { return !std::isfinite(step.loss); });
  const bool ended = history.error && history.error->code == "numeric";
  if (skipped == 0 && bad == history.steps.end() && !ended) return std::nullopt;
  if (rows.empty() && ended) rows = history.error->where;
  Advice advice;
  advice.trouble = Trouble::not_finite;
  advice.step =
      bad != history.steps.end() ? bad->step : (history.steps.empty() ? 0 : history.steps.back().step);
  advice.what = "A loss or gradient was not a finite number.";
  advice.evidence =
      fmt::format("{} {} skipped and changed nothing{}.", std::max<std::int64_t>(skipped, 1),
                  skipped > 1 ? "steps were" : "step was", rows.empty() ? "" : "; last in rows " + rows);
  advice.suggestion =
      settings.compute == "f16"
          ? "Train in bf16 or f32, whose range is wider than that of f16."
          : "Look at these rows; if they are in order, " + std::string("train with a lower learning rate.");
  if (settings.compute == "f16")
    advice.settings = {{"compute", "f32"}};
  else
    advice.settings = rate_times(settings, 0.3);
  return advice;
}

std::optional<Advice> find_masked_out(const RunHistory& history) {
  if (history.steps.empty()) return std::nullopt;
  std::int64_t trained = 0, without = 0;
  for (const auto& step : history.steps) {
    trained += step.trained_tokens;
    without += step.trained_tokens == 0;
  }
  const auto count = static_cast<std::int64_t>(history.steps.size());
  const std::int64_t all = history.steps.back().tokens;
  const double share = all > 0 ? static_cast<double>(trained) / static_cast<double>(all) : 1;
  if (share >= 0.01 && without * 4 < count) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::masked_out;
  advice.step = history.steps.back().step;
  advice.what = "Nearly all of the data is masked out: the model learns from very few tokens.";
  advice.evidence = fmt::format("{} of {} tokens were trained ({:.2f} %); {} of {} steps had none.", trained,
                                all, 100 * share, without, count);
  advice.suggestion =
      "See the token view of the data: answers may be cut off by max-length, or lie in the prompt's column.";
  return advice;
}

std::optional<Advice> find_divergence(const Curve& curve, const Settings& settings) {
  if (curve.medians.size() < 3) return std::nullopt;
  const auto at = std::min_element(curve.medians.begin(), curve.medians.end());
  const double lowest = std::min(*at, curve.start);
  const bool at_once = curve.start <= *at;  // nothing was ever better than before the first step
  const double highest = *std::max_element(at_once ? curve.medians.begin() : at, curve.medians.end());
  const double limit = lowest + std::max(0.35 * std::max(lowest, 0.5), curve.chance());
  // Up for a moment is a spike, up and on the way down a rate that was too high; up and staying up is
  // divergence.
  const bool stays = curve.medians[curve.medians.size() - 2] > lowest + (limit - lowest) / 2;
  if (curve.last() <= limit || curve.last() < 0.8 * highest || !stays) return std::nullopt;
  const auto window = static_cast<std::size_t>(at - curve.medians.begin());
  Advice advice;
  advice.trouble = Trouble::divergence;
  advice.step =
      at_once ? 0 : curve.steps[std::min((window + 1) * curve.window, curve.steps.size()) - 1]->step;
  advice.what = "The loss went up and stays up: training diverges.";
  advice.evidence = fmt::format("Loss {:.3f} around step {}, {:.3f} now, at learning rates up to {}.", lowest,
                                advice.step, curve.last(), rate_text(peak_rate(curve)));
  advice.suggestion = lower_rate_text(settings, 0.1);
  advice.settings = rate_times(settings, 0.1);
  return advice;
}

/// Steps whose loss jumps out of the ten before them.
std::vector<std::size_t> jumps_of(const Curve& curve) {
  std::vector<std::size_t> jumps;
  for (std::size_t i = 10; i < curve.steps.size(); ++i) {
    std::vector<double> before;
    for (std::size_t j = i - 10; j < i; ++j) before.push_back(curve.steps[j]->loss);
    const double level = median(std::move(before));
    if (curve.steps[i]->loss > level + std::max({6 * curve.noise, 0.25 * level, 0.3})) jumps.push_back(i);
  }
  return jumps;
}

/// Norm of an update beside the norm of what it changed, largest layer, median over the last five
/// measurements.
double update_share(const RunHistory& history) {
  std::vector<double> shares;
  const std::size_t count = history.norms.size();
  for (std::size_t i = count > 5 ? count - 5 : 0; i < count; ++i) {
    const NormsEvent& norms = history.norms[i];
    double largest = 0;
    for (std::size_t layer = 0; layer < std::min(norms.update.size(), norms.parameter.size()); ++layer) {
      if (norms.parameter[layer] > 0)
        largest = std::max(largest, norms.update[layer] / norms.parameter[layer]);
    }
    shares.push_back(largest);
  }
  return count < 3 ? 0 : median(std::move(shares));
}

std::optional<Advice> find_rate_too_high(const RunHistory& history, const Curve& curve,
                                         const Settings& settings) {
  const auto jumps = jumps_of(curve);
  const double share = update_share(history);
  // Never below where it began, although it moved: every step undoes the one before.
  const bool worse =
      curve.medians.size() >= 4 && curve.last() > curve.start + std::max(0.05 * curve.start, curve.chance());
  if (jumps.size() < 3 && share < 0.1 && !worse) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::rate_too_high;
  advice.step = jumps.empty() ? curve.steps.back()->step : curve.steps[jumps.front()]->step;
  advice.what = "The learning rate is too high: steps overshoot.";
  if (!jumps.empty()) {
    advice.evidence = fmt::format("The loss jumped {} times, first at step {}", jumps.size(), advice.step);
  } else if (worse) {
    advice.evidence = fmt::format("Loss {:.3f} at the start, {:.3f} now", curve.start, curve.last());
  }
  if (share >= 0.01) {
    advice.evidence += fmt::format("{}a step changes the adapter by {:.1f} %",
                                   advice.evidence.empty() ? "" : "; ", 100 * share);
  }
  advice.evidence +=
      fmt::format("{}learning rate {}.", advice.evidence.empty() ? "" : "; ", rate_text(peak_rate(curve)));
  advice.suggestion = lower_rate_text(settings, 0.3);
  advice.settings = rate_times(settings, 0.3);
  return advice;
}

std::optional<Advice> find_overfitting(const RunHistory& history, const Curve& curve) {
  const auto& evaluations = history.evaluations;
  if (evaluations.size() < 4) return std::nullopt;
  const auto best = std::min_element(evaluations.begin(), evaluations.end(),
                                     [](const EvalEvent& a, const EvalEvent& b) { return a.loss < b.loss; });
  // Best before the first step: that is another trouble.
  if (evaluations.end() - best < 3 || best->step == 0) return std::nullopt;
  const double limit = best->loss + std::max(0.02, 0.02 * best->loss);
  if (!(evaluations.back().loss > limit && (evaluations.end() - 2)->loss > best->loss)) return std::nullopt;
  std::vector<double> then;
  for (const auto* step : curve.steps) {
    if (std::abs(step->step - best->step) <= static_cast<std::int64_t>(curve.window))
      then.push_back(step->loss);
  }
  if (then.empty() || curve.last() >= median(then)) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::overfitting;
  advice.step = best->step;
  advice.what = "The model begins to learn the rows by heart: it gets better on them and worse on others.";
  advice.evidence =
      fmt::format("Evaluation loss {:.3f} at step {}, {:.3f} now; training loss {:.3f} then, {:.3f} now.",
                  best->loss, best->step, evaluations.back().loss, median(then), curve.last());
  advice.suggestion = fmt::format(
      "Take the checkpoint of step {}; next time use fewer epochs or early stopping.", best->step);
  advice.settings = {{"early-stop", "2"}};
  return advice;
}

std::int64_t planned_steps(const RunHistory& history) {
  return std::max(history.total_steps, history.steps.empty() ? 0 : history.steps.back().step);
}

std::optional<Advice> find_rate_too_low(const RunHistory& history, const Curve& curve,
                                        const Settings& settings) {
  const double done =
      static_cast<double>(curve.steps.back()->step) / static_cast<double>(planned_steps(history));
  if (done < 0.3) return std::nullopt;
  // Adam moves a number by about the learning rate a step, so their sum bounds how far B can have come from
  // zero.
  double moved = 0;
  for (const auto* step : curve.steps) moved += step->learning_rate;
  const double gain = curve.start - curve.last();
  const bool still = gain < std::max(0.02 * curve.start, curve.chance() / 2);
  if (moved >= 1e-3 || !still) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::rate_too_low;
  advice.step = curve.steps.back()->step;
  advice.what = "The learning rate is too low: the adapter has hardly moved.";
  advice.evidence = fmt::format(
      "Loss {:.3f} at the start, {:.3f} now; the learning rates of all {} steps add up to {:.1e}.",
      curve.start, curve.last(), curve.steps.size(), moved);
  const double factor = std::clamp(1e-2 / std::max(moved, 1e-12), 3.0, 1e3);
  const double rate = std::min(settings.learning_rate * factor, 5e-4);
  advice.suggestion = fmt::format("Train with a learning rate of {}.", rate_text(rate));
  advice.settings = {{"learning-rate", rate_text(rate)}};
  return advice;
}

std::optional<Advice> find_plateau(const RunHistory& history, const Curve& curve, const Settings& settings) {
  const auto total = static_cast<double>(planned_steps(history));
  const auto now = static_cast<double>(curve.steps.back()->step);
  // At the end of a run, and where the schedule has taken the rate down, a flat curve is how it should be.
  if (history.done || now > 0.75 * total || now < 0.3 * total || curve.steps.size() < 40) return std::nullopt;
  if (curve.steps.back()->learning_rate < 0.3 * peak_rate(curve)) return std::nullopt;
  const std::size_t half = curve.medians.size() / 2;
  const double earlier =
      *std::min_element(curve.medians.begin(), curve.medians.begin() + static_cast<std::ptrdiff_t>(half));
  const double later =
      *std::min_element(curve.medians.begin() + static_cast<std::ptrdiff_t>(half), curve.medians.end());
  if (earlier - later > std::max(0.005 * earlier, curve.chance() / 8)) return std::nullopt;
  if (history.evaluations.size() >= 4) {
    const auto middle =
        history.evaluations.begin() + static_cast<std::ptrdiff_t>(history.evaluations.size() / 2);
    const auto lower = [](const EvalEvent& a, const EvalEvent& b) { return a.loss < b.loss; };
    const double then = std::min_element(history.evaluations.begin(), middle, lower)->loss;
    const double since = std::min_element(middle, history.evaluations.end(), lower)->loss;
    if (then - since > 0.005 * then) return std::nullopt;
  }
  Advice advice;
  advice.trouble = Trouble::plateau;
  advice.step = curve.steps[half * curve.window]->step;
  advice.what = "The loss has stopped falling, and much of the run is still to come.";
  advice.evidence = fmt::format("Best loss {:.3f} up to step {}, {:.3f} since; {} of {} steps done.", earlier,
                                advice.step, later, curve.steps.back()->step, planned_steps(history));
  advice.suggestion =
      "Stop and keep the best checkpoint, or train again with a higher rank or another learning rate.";
  advice.settings = {{"rank", std::to_string(std::min<std::int64_t>(2 * settings.rank, 256))}};
  return advice;
}

}  // namespace

const char* to_string(Trouble trouble) {
  switch (trouble) {
    case Trouble::not_finite:
      return "not_finite";
    case Trouble::masked_out:
      return "masked_out";
    case Trouble::divergence:
      return "divergence";
    case Trouble::rate_too_high:
      return "rate_too_high";
    case Trouble::overfitting:
      return "overfitting";
    case Trouble::rate_too_low:
      return "rate_too_low";
    case Trouble::plateau:
      return "plateau";
  }
  return "unknown";
}

std::vector<Advice> coach(const RunHistory& history, const Settings& settings) {
  std::vector<Advice> found;
  const auto add = [&](std::optional<Advice> advice) {
    if (advice) found.push_back(std::move(*advice));
  };
  add(find_masked_out(history));
  const Curve curve = curve_of(history);
  const bool long_enough = curve.steps.size() >= fewest_steps;
  if (long_enough) {
    add(find_divergence(curve, settings));
    add(find_rate_too_high(history, curve, settings));
  }
  // A curve that went up first says where the values that are not finite come from.
  add(find_not_finite(history, settings));
  if (!long_enough) return found;
  add(find_overfitting(history, curve));
  add(find_rate_too_low(history, curve, settings));
  if (found.empty()) add(find_plateau(history, curve, settings));
  return found;
}

}  // namespace lorikeet
