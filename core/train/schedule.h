// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace lorikeet {

/// Learning rate of each step, as transformers' schedules (formats.md §4.5). `step` is 0-based.
struct Schedule {
  std::string kind = "linear";  ///< linear, cosine, cosine-min, constant, inverse-sqrt
  double base_rate = 2e-4;
  double min_rate = 0;  ///< fraction of base_rate, for cosine-min
  std::int64_t steps = 1;
  std::int64_t warmup_steps = 0;

  double rate_at(std::int64_t step) const;
};

}  // namespace lorikeet
