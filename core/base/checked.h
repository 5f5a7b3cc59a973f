// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace lorikeet {

/// a + b, or nothing when it does not fit; for sizes that come from files.
inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) return std::nullopt;
  return sum;
}

/// a * b, or nothing when it does not fit.
inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) return std::nullopt;
  return product;
}

/// Product of the extents of a shape (1 for an empty one), or nothing when an extent is negative or the
/// product does not fit a signed 64-bit number. A zero extent hides no overflow of the others.
inline std::optional<std::uint64_t> checked_elements(std::span<const std::int64_t> shape) {
  std::uint64_t product = 1;
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    if (extent == 0) {
      empty = true;
      continue;
    }
    const auto next = checked_multiply(product, static_cast<std::uint64_t>(extent));
    if (!next || *next > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    product = *next;
  }
  return empty ? 0 : product;
}

}  // namespace lorikeet
