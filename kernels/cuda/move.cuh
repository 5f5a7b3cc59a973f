// SPDX-License-Identifier: Apache-2.0
// Elements that only move: whole numbers of their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace lorikeet::cuda {

/// body(std::type_identity<Bits>()) with the unsigned type of 1, 2, 4 or 8 bytes.
template <typename Body>
void with_bits(std::size_t bytes, const Body& body) {
  if (bytes == 1) return body(std::type_identity<std::uint8_t>());
  if (bytes == 2) return body(std::type_identity<std::uint16_t>());
  if (bytes == 4) return body(std::type_identity<std::uint32_t>());
  body(std::type_identity<std::uint64_t>());
}

}  // namespace lorikeet::cuda
