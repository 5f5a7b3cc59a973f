// SPDX-License-Identifier: Apache-2.0
#include "core/train/coach.h"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/train/coach_curve.h"

namespace lorikeet {
namespace {

/// Below this many steps a curve says nothing.
constexpr std::size_t fewest_steps = 12;

using Values = std::vector<std::string>;

std::string loss_text(double loss) {
  return fmt::format("{:.3f}", loss);
}
/// A rate as a person writes it: one digit.
std::string rate_text(double rate) {
  return fmt::format("{:.1g}", rate);
}
std::string percent_text(double share, int digits) {
  return fmt::format("{:.{}f}", 100 * share, digits);
}
std::string count_text(std::int64_t count) {
  return std::to_string(count);
}

void suggest_rate(Advice& advice, Says says, const Settings& settings, double factor) {
  const std::string rate = rate_text(settings.learning_rate * factor);
  advice.suggestion = {says, {rate, rate_text(settings.learning_rate)}};
  advice.settings = {{"learning-rate", rate}};
}

/// What a run's warnings and steps say of values that are not finite.
struct NotFinite {
  std::int64_t skipped = 0;  ///< steps that were left out
  std::string rows;          ///< of the last of them
  std::string lost_step, lost_rows;
  std::int64_t step = 0;  ///< first step whose loss was not finite, else the newest
  bool any = false;

  bool lost() const { return !lost_step.empty(); }
};

/// The text between two others, "" when they are not there.
std::string between(const std::string& text, const std::string& before, const std::string& after) {
  const auto from = text.find(before);
  if (from == std::string::npos) return {};
  const auto start = from + before.size();
  const auto end = after.empty() ? text.size() : text.find(after, start);
  return end == std::string::npos ? std::string() : text.substr(start, end - start);
}

NotFinite not_finite_of(const RunHistory& history) {
  NotFinite found;
  for (const auto& warning : history.warnings) {
    if (warning.code == "weights_lost") {
      found.lost_step = between(warning.what, "after step ", " ");
      found.lost_rows = between(warning.what, "(rows ", ")");
    }
    if (warning.code != "skipped_step") continue;
    ++found.skipped;
    found.rows = between(warning.what, "rows ", "");
  }
  const auto bad = std::find_if(history.steps.begin(), history.steps.end(),
                                [](const StepEvent& step) { return !std::isfinite(step.loss); });
  if (!history.steps.empty()) found.step = (bad != history.steps.end() ? *bad : history.steps.back()).step;
  const bool ended = history.error && history.error->code == "numeric";
  found.any = found.skipped > 0 || found.lost() || bad != history.steps.end() || ended;
  return found;
}

std::optional<Advice> find_not_finite(const RunHistory& history, const Settings& settings) {
  const NotFinite found = not_finite_of(history);
  if (!found.any) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::not_finite;
  advice.step = found.step;
  advice.what = {found.lost() ? Says::adapter_lost : Says::loss_not_finite, {}};
  auto& evidence = advice.evidence;
  if (found.lost()) evidence.push_back({Says::lost_after, {found.lost_step, found.lost_rows}});
  if (found.skipped > 0) {
    evidence.push_back({Says::steps_skipped, {count_text(found.skipped)}});
    if (!found.rows.empty()) evidence.push_back({Says::last_in_rows, {found.rows}});
  }
  if (evidence.empty()) evidence.push_back({Says::loss_of_step_not_finite, {count_text(found.step)}});
  if (settings.compute == "f16") {
    advice.suggestion = {Says::use_wider_numbers, {}};
    advice.settings = {{"compute", "f32"}};
  } else {
    suggest_rate(advice, found.lost() ? Says::go_back_with_lower_rate : Says::look_at_rows, settings, 0.3);
  }
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
  advice.what = {Says::masked_out, {}};
  advice.evidence = {{Says::tokens_trained, {count_text(trained), count_text(all), percent_text(share, 2)}}};
  if (without > 0)
    advice.evidence.push_back({Says::steps_without_tokens, {count_text(without), count_text(count)}});
  advice.suggestion = {Says::see_token_view, {}};
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
  // All that was learned is gone, whatever the peak was.
  const bool lost = curve.last() > std::max(2 * lowest, curve.start);
  if (curve.last() <= limit || !stays || (curve.last() < 0.8 * highest && !lost)) return std::nullopt;
  const auto window = static_cast<std::size_t>(at - curve.medians.begin());
  Advice advice;
  advice.trouble = Trouble::divergence;
  advice.step =
      at_once ? 0 : curve.steps[std::min((window + 1) * curve.window, curve.steps.size()) - 1]->step;
  advice.what = {Says::diverges, {}};
  advice.evidence = {
      {Says::loss_from_to, {loss_text(lowest), count_text(advice.step), loss_text(curve.last())}},
      {Says::rate_reached, {rate_text(curve.peak_rate())}}};
  suggest_rate(advice, Says::lower_rate, settings, 0.1);
  return advice;
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
  // A few odd rows that come again with every epoch are no trouble of the rate.
  const bool jumped = jumps.size() >= std::max<std::size_t>(3, curve.steps.size() / 50);
  const double share = update_share(history);
  // Large steps are a trouble only where they lead nowhere: B begins at zero, so early steps are large beside
  // it.
  const double lowest = *std::min_element(curve.medians.begin(), curve.medians.end());
  const bool overshoots = share >= 0.1 && curve.last() > lowest + curve.chance();
  // Never below where it began, although it moved: every step undoes the one before.
  const bool worse =
      curve.medians.size() >= 4 && curve.last() > curve.start + std::max(0.05 * curve.start, curve.chance());
  if (!jumped && !overshoots && !worse) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::rate_too_high;
  advice.step = jumped ? curve.steps[jumps.front()]->step : curve.steps.back()->step;
  advice.what = {Says::overshoots, {}};
  if (jumped) {
    advice.evidence.push_back(
        {Says::loss_jumped, {count_text(static_cast<std::int64_t>(jumps.size())), count_text(advice.step)}});
  } else if (worse) {
    advice.evidence.push_back({Says::start_and_now, {loss_text(curve.start), loss_text(curve.last())}});
  }
  if (share >= 0.01) advice.evidence.push_back({Says::step_changes_adapter, {percent_text(share, 1)}});
  advice.evidence.push_back({Says::rate_is, {rate_text(curve.peak_rate())}});
  suggest_rate(advice, Says::lower_rate, settings, 0.3);
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
  std::vector<double> around;
  for (const auto* step : curve.steps) {
    if (std::abs(step->step - best->step) <= static_cast<std::int64_t>(curve.window))
      around.push_back(step->loss);
  }
  const double then = median(around);
  if (around.empty() || curve.last() >= 0.95 * then) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::overfitting;
  advice.step = best->step;
  advice.what = {Says::by_heart, {}};
  advice.evidence = {{Says::evaluation_from_to,
                      {loss_text(best->loss), count_text(best->step), loss_text(evaluations.back().loss)}},
                     {Says::training_from_to, {loss_text(then), loss_text(curve.last())}}};
  advice.suggestion = {Says::take_checkpoint, {count_text(best->step)}};
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
  // Like with like: rows kept for evaluation may be harder or easier than those trained.
  const auto& evaluations = history.evaluations;
  const bool evaluated = evaluations.size() > 1 && evaluations.front().step == 0;
  const double from = evaluated ? evaluations.front().loss : curve.medians.front();
  const double now = evaluated ? evaluations.back().loss : curve.last();
  const bool still = from - now < std::max(0.02 * from, evaluated ? 0 : curve.chance() / 2);
  if (moved >= 1e-3 || !still) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::rate_too_low;
  advice.step = curve.steps.back()->step;
  advice.what = {Says::hardly_moved, {}};
  advice.evidence = {
      {Says::start_and_now, {loss_text(curve.start), loss_text(curve.last())}},
      {Says::rates_add_up, {count_text(static_cast<std::int64_t>(curve.steps.size())), rate_text(moved)}}};
  const double factor = std::clamp(1e-2 / std::max(moved, 1e-12), 3.0, 1e3);
  const std::string rate = rate_text(std::min(settings.learning_rate * factor, 5e-4));
  advice.suggestion = {Says::raise_rate, {rate}};
  advice.settings = {{"learning-rate", rate}};
  return advice;
}

std::optional<Advice> find_plateau(const RunHistory& history, const Curve& curve, const Settings& settings) {
  const std::int64_t total = planned_steps(history);
  const std::int64_t now = curve.steps.back()->step;
  // What counts is a quarter of the run, so that a long run may be slow and a short one is not judged by a
  // few steps. At the end of a run, and where the schedule has taken the rate down, a flat curve is how it
  // should be.
  const std::int64_t span = std::max<std::int64_t>(30, total / 4);
  if (history.done || curve.steps.size() < 40 || now < span + 10 || 10 * now > 8 * total) return std::nullopt;
  if (curve.steps.back()->learning_rate < 0.3 * curve.peak_rate()) return std::nullopt;
  const Trend trend = trend_of(curve, span);
  const StandStill evaluated = evaluations_since(history, now - span);
  if (!evaluated.still) return std::nullopt;
  // Said only when it is sure that the loss fell by less than this, not when noise hides what it did. Three
  // evaluations, always of the same rows, are sure without the bounds of training loss.
  const double doubt = evaluated.count >= 3 ? 0 : 2 * trend.doubt;
  if (trend.gain + doubt > 0.04 * trend.level) return std::nullopt;
  Advice advice;
  advice.trouble = Trouble::plateau;
  advice.step = now - span;
  advice.what = {Says::stands_still, {}};
  advice.evidence = {{Says::kept_around, {count_text(advice.step), loss_text(trend.level)}},
                     {Says::steps_done, {count_text(now), count_text(total)}}};
  advice.suggestion = {Says::stop_or_change, {}};
  advice.settings = {{"rank", count_text(std::min<std::int64_t>(2 * settings.rank, 256))}};
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
