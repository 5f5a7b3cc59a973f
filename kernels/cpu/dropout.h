// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/base/random.h"
#include "kernels/cpu/linear_kernels.h"
#include "kernels/operands.h"

namespace lorikeet {

/// What the inner loops need of one row of a branch's dropout.
inline DroppedRow dropped_row(const LoraDropout& dropout, std::int64_t row) {
  const std::uint32_t* key = dropout.keys.as<std::uint32_t>() + 2 * row;
  return {{key[0], key[1]},
          static_cast<std::uint32_t>(RandomUse::dropout),
          dropout.place,
          dropout_threshold(dropout.probability)};
}

}  // namespace lorikeet
