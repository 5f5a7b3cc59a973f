// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/data/packing.h"
#include "core/train/settings.h"

namespace lorikeet {

/// The micro-batches of one epoch under these settings: shuffled, then packed or grouped by length where they
/// say so. Every row is in exactly one; their number is the same in every epoch. A pure function of its
/// arguments.
BatchPlan epoch_batches(const std::vector<TokenRow>& rows, const Settings& settings, std::int64_t epoch,
                        std::int64_t max_length);

/// Throws Error(invalid_argument) naming settings that mean nothing together.
void require_settings_that_agree(const Settings& settings);

}  // namespace lorikeet
