// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>

#include "kernels/tensor.h"

namespace lorikeet {

/// A key for Backend::repeat from all numbers and addresses that decide what the work is (FNV-1a).
inline std::uint64_t repeat_key(std::initializer_list<std::uint64_t> values) {
  std::uint64_t result = 14695981039346656037u;
  for (std::uint64_t value : values) {
    for (int byte = 0; byte < 8; ++byte, value >>= 8) result = (result ^ (value & 255)) * 1099511628211u;
  }
  return result;
}

inline std::uint64_t address_of(const TensorView& view) {
  return reinterpret_cast<std::uintptr_t>(view.data);
}

}  // namespace lorikeet
