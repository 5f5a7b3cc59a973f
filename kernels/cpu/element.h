// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/base/half.h"
#include "kernels/tensor.h"

namespace lorikeet {

/// bf16 in memory, so that templates can tell it from f16.
struct Bf16 {
  std::uint16_t bits;
};
/// f16 in memory.
struct F16 {
  std::uint16_t bits;
};

inline float load(float value) {
  return value;
}
inline float load(double value) {
  return static_cast<float>(value);
}
inline float load(Bf16 value) {
  return bf16_to_f32(value.bits);
}
inline float load(F16 value) {
  return f16_to_f32(value.bits);
}

inline void store(float& to, float value) {
  to = value;
}
inline void store(double& to, float value) {
  to = static_cast<double>(value);
}
inline void store(Bf16& to, float value) {
  to.bits = f32_to_bf16(value);
}
inline void store(F16& to, float value) {
  to.bits = f32_to_f16(value);
}

}  // namespace lorikeet
