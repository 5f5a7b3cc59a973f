// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/packing.h"
#include "core/train/settings.h"

namespace lorikeet {

/// The micro-batches of a run, step after step: a pure function of rows, settings and the step number, so
/// resuming needs nothing but that number. The last step of an epoch takes the micro-batches that are left.
class BatchStream {
 public:
  BatchStream(const std::vector<TokenRow>& rows, const Settings& settings, std::int64_t max_length);

  /// Goes to the beginning of a step (0-based).
  void seek(std::int64_t step);
  /// The micro-batches of the step at hand, as lists of row indexes.
  std::vector<std::vector<std::int64_t>> step_batches() const;
  /// Number of the epoch at hand, from 0.
  std::int64_t epoch() const { return epoch_; }
  /// Epochs seen when the step at hand is done, for example 0.25.
  double epoch_after() const;
  void advance();

 private:
  void load_epoch(std::int64_t epoch);
  std::int64_t batch_count() const { return static_cast<std::int64_t>(plan_.micro_batches.size()); }

  const std::vector<TokenRow>& rows_;
  const Settings& settings_;
  std::int64_t max_length_;
  std::int64_t epoch_ = 0;
  std::int64_t next_ = 0;  ///< micro-batch within the epoch
  BatchPlan plan_;
};

}  // namespace lorikeet
