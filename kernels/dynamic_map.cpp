// SPDX-License-Identifier: Apache-2.0
#include "kernels/dynamic_map.h"

#include <algorithm>
#include <cmath>

namespace lorikeet {

namespace {

/// Entry i of `count` values from 0.1 to 1 at equal steps, from the nearer end and rounded once, as PyTorch's
/// linspace does with fused multiply-add (the product is exact in double).
float equally_spaced(int i, int count) {
  const float start = 0.1f;
  const float end = 1.0f;
  const float step = (end - start) / static_cast<float>(count - 1);
  const double value = i < count / 2 ? static_cast<double>(start) + static_cast<double>(step) * i
                                     : static_cast<double>(end) - static_cast<double>(step) * (count - 1 - i);
  return static_cast<float>(value);
}

DynamicMap make_map(bool is_signed) {
  DynamicMap map{};
  std::size_t used = 0;
  for (int decade = 0; decade < 7; ++decade) {
    const int means = 1 << (is_signed ? decade : decade + 1);
    const auto scale = static_cast<float>(std::pow(10.0, decade - 6));
    for (int i = 0; i < means; ++i) {
      const float mean = (equally_spaced(i, means + 1) + equally_spaced(i + 1, means + 1)) / 2.0f;
      const float value = scale * mean;
      map[used++] = value;
      if (is_signed) map[used++] = -value;
    }
  }
  map[used++] = 0.0f;
  map[used++] = 1.0f;
  std::sort(map.begin(), map.end());
  return map;
}

}  // namespace

const DynamicMap& signed_dynamic_map() {
  static const DynamicMap map = make_map(true);
  return map;
}

const DynamicMap& unsigned_dynamic_map() {
  static const DynamicMap map = make_map(false);
  return map;
}

std::uint8_t nearest_in_map(const DynamicMap& map, float value) {
  int low = 0;
  int high = 255;
  if (!(value > map[0])) return 0;
  if (value >= map[255]) return 255;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    (map[static_cast<std::size_t>(middle)] <= value ? low : high) = middle;
  }
  const float midpoint = (map[static_cast<std::size_t>(low)] + map[static_cast<std::size_t>(high)]) * 0.5f;
  return static_cast<std::uint8_t>(value > midpoint ? high : low);
}

}  // namespace lorikeet
