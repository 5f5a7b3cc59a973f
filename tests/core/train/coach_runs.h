// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/train/coach.h"
#include "core/train/run_folder.h"

namespace lorikeet::test {

using Rows = std::vector<Json>;

/// Which base and rows a scripted run starts from.
enum class CoachBase {
  nest,     ///< the sample model and its stories
  broken,   ///< the sample model with a weight that no product survives
  stories,  ///< another model (stories260K of the test data) on the sample's stories
  alpaca    ///< that model on rows in Alpaca form of the test data
};

/// A job as a person could write it: flags beside those of a good run, and what becomes of its rows.
struct CoachScript {
  std::string name;  ///< of a run that goes wrong: "trouble: how"
  std::vector<std::pair<std::string, std::string>> flags;
  std::function<void(Rows&)> rows;
  CoachBase base = CoachBase::nest;
  double seen = 1;  ///< share of the run that the coach has seen when it is asked

  std::string trouble() const { return name.substr(0, name.find(':')); }
};

/// The twelve and ten that the coach was made with, and others that it was checked and mended with.
const std::vector<CoachScript>& failing_scripts();
const std::vector<CoachScript>& good_scripts();
const std::vector<CoachScript>& held_out_failing_scripts();
const std::vector<CoachScript>& held_out_good_scripts();

/// Trains scripts in folders below `folder`, by run_job as the engine does.
class CoachRuns {
 public:
  explicit CoachRuns(std::string folder) : folder_(std::move(folder)) {}

  /// False when the script needs test data that this machine has not.
  static bool possible(const CoachScript& script);
  std::pair<RunHistory, Settings> run(const CoachScript& script);

 private:
  std::string model(CoachBase base) const;
  std::string folder_;
  int count_ = 0;
};

/// The history as it was when `share` of the steps were done.
RunHistory prefix(const RunHistory& whole, double share);
/// What the coach says of a failing script's run when it has seen the script's share of it.
struct CoachAnswer {
  std::vector<Advice> advice;
  bool right = false;  ///< the first advice names the script's trouble
  /// Right, or divergence and a rate that is too high taken for each other: where one ends and the other
  /// begins is a matter of words, and a person is told the same, to lower the rate.
  bool same_cause = false;
  std::string line;  ///< of the table: script -> all that is named | evidence
};
CoachAnswer answer_to(const CoachScript& script, const RunHistory& history, const Settings& settings);
/// The coach is asked at each twentieth of the run; "" when it was silent each time, else what it said first.
std::string first_alarm(const RunHistory& history, const Settings& settings);

}  // namespace lorikeet::test
