// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "kernels/backend.h"

// Random sequences of operations and transfers that keep to the rules of backend.h, with what they must give.
namespace lorikeet::testing::transfers {

using Numbers = std::vector<float>;
inline constexpr std::int64_t length = 96;

/// Whole numbers, so that sums are exact.
Numbers random_numbers(std::mt19937_64& random, std::int64_t n = length);
Numbers read(HostBuffer& buffer);

/// Gives two random programs to the back end, five times each with other contents, by repeat() or directly;
/// true when all tensors and buffers hold what they must.
bool runs_right(Backend& backend, std::uint64_t seed, bool repeated);

}  // namespace lorikeet::testing::transfers
