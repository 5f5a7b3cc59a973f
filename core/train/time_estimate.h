// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/plan.h"

namespace lorikeet {

/// What is left of a run, from what its parts took so far: steps by their operations (rows differ in length),
/// evaluations, sample answers and checkpoints each by what the last one took. Recent steps count more, so it
/// follows a machine that others use too.
class TimeEstimate {
 public:
  /// Nothing is known yet.
  TimeEstimate() = default;
  /// `rows` are the training rows. Looks at every step of the run, or, where that would take long, at those
  /// of the first epochs.
  TimeEstimate(const ModelSpec& spec, const Settings& settings, const Plan& plan,
               const std::vector<TokenRow>& rows, const std::vector<TokenRow>& evaluation);

  /// A measured step (1-based). The first one of an engine is forgotten when others follow: it generates code
  /// and takes memory.
  void step_took(std::int64_t step, double seconds);
  /// One batch before the run, in its operations; used until steps were measured.
  void rehearsed(const TokenCounts& counts, double seconds);
  void evaluation_took(double seconds) { evaluation_seconds_ = seconds; }
  void samples_took(double seconds) { samples_seconds_ = seconds; }
  void checkpoint_took(double seconds) { checkpoint_seconds_ = seconds; }

  std::int64_t measured_steps() const { return measured_; }
  static constexpr std::int64_t settled_steps =
      5;  ///< measured ones, from which on the estimate is to be relied on

  /// Seconds from the end of `step` to the end of the run; 0 = not known yet.
  double seconds_left(std::int64_t step) const;

 private:
  double operations_left(std::int64_t step) const;
  std::int64_t evaluations_left(std::int64_t step) const;
  std::int64_t checkpoints_left(std::int64_t step) const;

  std::int64_t steps_ = 0, eval_every_ = 1, save_every_ = 1;
  bool evaluates_ = false;
  Operations each_;
  std::vector<double> up_to_;  ///< operations of the first steps, summed up: up_to_[n] = of n steps
  double mean_ = 0;            ///< of the steps beyond
  double evaluation_operations_ = 0;
  std::uint64_t checkpoint_bytes_ = 0;

  std::int64_t measured_ = 0;
  double seconds_ = 0, operations_ = 0;  ///< of measured steps, older ones faded
  double rehearsed_ = 0;                 ///< seconds for an operation, of the rehearsal
  double evaluation_seconds_ = 0, samples_seconds_ = 0, checkpoint_seconds_ = 0;
};

}  // namespace lorikeet
