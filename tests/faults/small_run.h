// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/train/run_job.h"

namespace lorikeet::test {

/// Runs of a tiny model on a few rows, in this process: packed rows, several micro-batches a step,
/// evaluations, samples and checkpoints, all within a few steps.
class SmallRuns {
 public:
  /// Writes model and data into `folder`.
  explicit SmallRuns(const std::string& folder);

  static Settings settings();
  Job job(const Settings& settings = SmallRuns::settings()) const;
  const std::string& data() const { return data_; }

  using Watch = std::function<void(const RunProgress&)>;
  /// Makes a run at `path` and runs it; or goes on with the one that is there.
  RunEnd begin(const std::string& path, const Settings& settings = SmallRuns::settings(),
               const Watch& watch = {}) const;
  RunEnd go_on(const std::string& path, const Watch& watch = {}) const;

 private:
  std::string model_, data_;
};

/// The weights of the finished adapter.
std::string adapter_bytes(const std::string& run);
/// Losses of the steps as readers see them.
std::vector<double> losses_of(const std::string& run);

}  // namespace lorikeet::test
