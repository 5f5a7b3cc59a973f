// SPDX-License-Identifier: Apache-2.0
// Functions of gates and feed-forward layers with their derivatives; the formulas are in glu.cu.
#pragma once

namespace lorikeet::cuda {

/// A function's value and its derivative at one place.
struct Slope {
  float value, slope;
};

__device__ __forceinline__ Slope silu(float x) {
  const float s = 1.0f / (1.0f + expf(-x));
  const float value = x * s;
  return {value, s * (1.0f + (x - value))};
}

/// The tanh form. Beyond |x| = 20 the function is 0 or x, so the polynomial needs no more.
__device__ __forceinline__ Slope gelu(float x) {
  constexpr float twice_root = 1.5957691216057308f;  // 2 sqrt(2/pi)
  constexpr float cubic = 0.044715f;
  const float c = fminf(fmaxf(x, -20.0f), 20.0f);
  const float square = c * c;
  const float s = 1.0f / (1.0f + expf(-twice_root * (c + cubic * c * square)));
  const float value = x * s;
  return {value, s + value * (1.0f - s) * (twice_root * (1.0f + 3.0f * cubic * square))};
}

}  // namespace lorikeet::cuda
