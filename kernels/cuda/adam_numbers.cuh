// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lorikeet::cuda {

/// What the host knows of a step.
struct AdamRule {
  float learning_rate, beta1, beta1_rest, beta2, beta2_rest, epsilon, keep, gradient_scale;
  std::int64_t step;
};

/// What an update needs (simd::AdamFactors, for both kinds of state at once).
struct AdamNumbers {
  float gradient_scale, beta1, beta1_rest, beta2, beta2_rest, keep;
  float step_size, epsilon, v_scale;  ///< 32-bit state
  float step_size_8bit, epsilon_8bit;
  bool skip;
};

/// From 1 - beta1^t and sqrt(1 - beta2^t).
__host__ __device__ inline AdamNumbers numbers_of(const AdamRule& r, double first, double second) {
  AdamNumbers n{};
  n.gradient_scale = r.gradient_scale;
  n.beta1 = r.beta1;
  n.beta1_rest = r.beta1_rest;
  n.beta2 = r.beta2;
  n.beta2_rest = r.beta2_rest;
  n.keep = r.keep;
  n.step_size = static_cast<float>(static_cast<double>(r.learning_rate) / first);
  n.epsilon = r.epsilon;
  n.v_scale = static_cast<float>(1.0 / second);
  n.step_size_8bit = static_cast<float>(static_cast<double>(r.learning_rate) * second / first);
  n.epsilon_8bit = static_cast<float>(static_cast<double>(r.epsilon) * second);
  n.skip = false;
  return n;
}

/// What a thread has seen: sums of squares, in f64.
struct AdamSquares {
  double gradient = 0;  ///< as given, before any scale
  double update = 0;    ///< of what was changed
  double parameter = 0;

  __device__ __forceinline__ void take(float g, float before, float after) {
    const double change = static_cast<double>(after) - static_cast<double>(before);
    gradient += static_cast<double>(g) * static_cast<double>(g);
    update += change * change;
    parameter += static_cast<double>(after) * static_cast<double>(after);
  }
};

}  // namespace lorikeet::cuda
