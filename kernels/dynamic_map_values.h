// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>

#include "kernels/dynamic_map.h"

// How the entries of the dynamic maps are made; constexpr, so that device code can hold them as data.
namespace lorikeet {

/// Entry i of `count` values from 0.1 to 1 at equal steps, from the nearer end and rounded once, as PyTorch's
/// linspace does with fused multiply-add (the product is exact in double).
constexpr float dynamic_map_step(int i, int count) {
  const float start = 0.1f;
  const float end = 1.0f;
  const float step = (end - start) / static_cast<float>(count - 1);
  const double value = i < count / 2 ? static_cast<double>(start) + static_cast<double>(step) * i
                                     : static_cast<double>(end) - static_cast<double>(step) * (count - 1 - i);
  return static_cast<float>(value);
}

constexpr DynamicMap make_dynamic_map(bool is_signed) {
  constexpr float scales[7] = {1e-6f, 1e-5f, 1e-4f, 1e-3f, 1e-2f, 1e-1f, 1.0f};
  DynamicMap map{};
  std::size_t used = 0;
  for (int decade = 0; decade < 7; ++decade) {
    const int means = 1 << (is_signed ? decade : decade + 1);
    for (int i = 0; i < means; ++i) {
      const float mean = (dynamic_map_step(i, means + 1) + dynamic_map_step(i + 1, means + 1)) / 2.0f;
      const float value = scales[decade] * mean;
      map[used++] = value;
      if (is_signed) map[used++] = -value;
    }
  }
  map[used++] = 0.0f;
  map[used++] = 1.0f;
  std::sort(map.begin(), map.end());
  return map;
}

}  // namespace lorikeet
