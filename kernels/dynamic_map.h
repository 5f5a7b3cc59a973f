// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace lorikeet {

/// bitsandbytes' dynamic 8-bit maps (formats.md §2.3; Dettmers et al. 2022, "8-bit optimizers via block-wise
/// quantization"): 256 ascending values in [-1, 1] or [0, 1] whose spacing shrinks with their size.
using DynamicMap = std::array<float, 256>;

/// The signed map; entry 127 is 0, entry 255 is 1 and entry 0 is about -0.993.
const DynamicMap& signed_dynamic_map();

/// The unsigned map; entry 0 is 0, entry 255 is 1.
const DynamicMap& unsigned_dynamic_map();

/// Index of the entry nearest to `value`; at an exact midpoint the lower one, below and above all the ends; 0
/// for NaN.
std::uint8_t nearest_in_map(const DynamicMap& map, float value);

}  // namespace lorikeet
