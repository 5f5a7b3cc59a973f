// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace lorikeet::ptx {

/// The fundamental types of PTX that can stand in an instruction or a declaration.
enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  bf16,
  f16x2,
  bf16x2,
  f32,
  f64,
  tf32
};

/// Type::none when `name` ("u32", without the dot) is not a type.
Type type_named(std::string_view name);
int size_of(Type type);  ///< bytes; 0 for none and pred
bool is_signed(Type type);
bool is_float(Type type);  ///< f16, bf16, their pairs, f32, f64

}  // namespace lorikeet::ptx
