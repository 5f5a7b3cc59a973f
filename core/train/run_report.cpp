// SPDX-License-Identifier: Apache-2.0
#include "core/train/run_report.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/train/coach.h"

namespace lorikeet {
namespace {

/// JSON has no infinity and no NaN.
Json finite(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

void add_steps(Json& report, const std::vector<StepEvent>& steps) {
  if (steps.empty()) return;
  std::vector<double> speeds;
  std::int64_t memory = 0;
  double lowest = INFINITY;
  for (const auto& step : steps) {
    speeds.push_back(step.tokens_per_second);
    memory = std::max(memory, step.memory_bytes);
    if (step.loss < lowest) lowest = step.loss;
  }
  const auto middle = speeds.begin() + static_cast<std::ptrdiff_t>(speeds.size() / 2);
  std::nth_element(speeds.begin(), middle, speeds.end());
  report["loss"] = {
      {"first", finite(steps.front().loss)}, {"last", finite(steps.back().loss)}, {"lowest", finite(lowest)}};
  report["gradient_norm"] = finite(steps.back().grad_norm);
  report["learning_rate"] = steps.back().learning_rate;
  report["tokens"] = steps.back().tokens;
  report["tokens_per_second"] = *middle;
  report["memory_bytes"] = memory;
  report["elapsed_seconds"] = steps.back().elapsed_seconds;
}

void add_phases(Json& report, const RunHistory& history) {
  double sum = 0;
  for (const auto& [name, seconds] : history.seconds_by_phase) sum += seconds;
  for (const auto& [name, seconds] : history.seconds_by_phase)
    report["phases"][name] = {{"seconds", seconds}, {"share", sum > 0 ? seconds / sum : 0}};
}

void add_layers(Json& report, const RunHistory& history) {
  if (history.norms.empty()) return;
  const NormsEvent& norms = history.norms.back();
  report["layers_at_step"] = norms.step;
  report["layers"] = Json::array();
  const std::size_t count = std::min({norms.gradient.size(), norms.update.size(), norms.parameter.size()});
  for (std::size_t i = 0; i < count; ++i) {
    report["layers"].push_back({{"layer", i},
                                {"gradient", finite(norms.gradient[i])},
                                {"update", finite(norms.update[i])},
                                {"parameter", finite(norms.parameter[i])},
                                {"update_share", finite(norms.update[i] / norms.parameter[i])}});
  }
}

}  // namespace

Json run_report(const RunHistory& history, const Settings& settings) {
  Json report = Json::object();
  report["steps"] = history.steps.empty() ? 0 : history.steps.back().step;
  report["total_steps"] = history.total_steps;
  add_steps(report, history.steps);
  for (const auto& evaluation : history.evaluations) {
    report["evaluations"].push_back({{"step", evaluation.step},
                                     {"loss", finite(evaluation.loss)},
                                     {"perplexity", finite(evaluation.perplexity)},
                                     {"accuracy", evaluation.accuracy}});
  }
  if (history.data) {
    report["rows"] = {
        {"training", history.data->rows},        {"evaluation", history.data->evaluation_rows},
        {"tokens", history.data->tokens},        {"trained_tokens", history.data->trained_tokens},
        {"refused", history.data->refused_rows}, {"cut", history.data->cut_rows}};
  }
  add_phases(report, history);
  add_layers(report, history);
  report["coach"] = Json::array();
  for (const auto& advice : coach(history, settings)) {
    Json entry = {{"trouble", to_string(advice.trouble)},
                  {"step", advice.step},
                  {"what", advice.what.english()},
                  {"evidence", english(advice.evidence)},
                  {"suggestion", advice.suggestion.english()},
                  {"settings", Json::object()}};
    for (const auto& [key, value] : advice.settings) entry["settings"][key] = value;
    report["coach"].push_back(std::move(entry));
  }
  return report;
}

}  // namespace lorikeet
