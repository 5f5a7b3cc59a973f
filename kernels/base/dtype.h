// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace lorikeet {

/// Element type of a Tensor in device memory.
enum class DType : std::uint8_t { f64, f32, f16, bf16, i32, u8, i8 };

/// Bytes of one element.
constexpr std::size_t size_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 8;
    case DType::f32:
    case DType::i32:
      return 4;
    case DType::f16:
    case DType::bf16:
      return 2;
    case DType::u8:
    case DType::i8:
      return 1;
  }
  return 0;
}

/// Lower-case name, for example "bf16".
const char* to_string(DType dtype);

}  // namespace lorikeet
