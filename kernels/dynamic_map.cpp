// SPDX-License-Identifier: Apache-2.0
#include "kernels/dynamic_map.h"

#include "kernels/dynamic_map_values.h"

namespace lorikeet {

const DynamicMap& signed_dynamic_map() {
  static constexpr DynamicMap map = make_dynamic_map(true);
  return map;
}

const DynamicMap& unsigned_dynamic_map() {
  static constexpr DynamicMap map = make_dynamic_map(false);
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
