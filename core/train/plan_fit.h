// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/train/plan.h"

namespace lorikeet {

/// One setting with its values before and after, as a person writes them.
struct SettingChange {
  std::string key, from, to;
};

/// Settings under which a run takes less memory.
struct FitOption {
  std::vector<SettingChange> changes;
  Settings settings;
  Plan plan;
  std::int64_t saved_bytes = 0;  ///< against the plan without the changes
  double time_ratio = 1;         ///< estimated time against the plan without them
  int harm =
      0;  ///< 0 learns the same, 1 numbers are kept more coarsely or nothing is answered, more: learns less
  std::string what;  ///< a sentence
};

/// How a run could be made to fit.
struct FitAdvice {
  Plan now;
  std::optional<FitOption> cheapest;  ///< the change, or set of changes, that fits at the least cost
  std::vector<FitOption> single;      ///< each change alone at its largest, whether it fits or not
};

/// What the plan needs to know of the data besides rows.
struct FitData {
  const std::vector<TokenRow>* train = nullptr;
  const std::vector<TokenRow>* evaluation = nullptr;
  std::int64_t sample_tokens = 0;
};

/// Tries all sets of changes that could help: a smaller micro-batch with more of them (rows per step stay),
/// packs of the longest row's length, weights in 4 bits, the 8-bit optimiser, 16-bit products and offload on
/// CUDA, no sample prompts, a lower rank, and cutting the longest 5 % of the rows. Which layers are
/// recomputed is not a setting: every plan recomputes as few as fit. The cheapest is the one that harms least
/// what is learnt, then the quickest, then the one with the fewest changes. Nothing is changed when the run
/// fits as it is.
FitAdvice make_it_fit(const ModelSpec& spec, const FitData& data, const Settings& settings,
                      const PlanDevice& device);

/// "--batch-size 1 --accumulation 8".
std::string as_flags(const std::vector<SettingChange>& changes);

}  // namespace lorikeet
