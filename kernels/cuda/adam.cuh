// SPDX-License-Identifier: Apache-2.0
// The update of up to 2048 parameters by one block of 256 threads; formulas and rounding as
// kernels/cpu/simd/optimizer.cpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/adam_8bit.cuh"
#include "kernels/cuda/adam_numbers.cuh"
#include "kernels/cuda/elements.cuh"

namespace lorikeet::cuda {

constexpr std::int64_t task_elements = 2048;  ///< what a block takes at a time: one 8-bit block a warp

/// One tensor of an adapter. m and v are moments, or absmax values beside codes.
struct DevicePart {
  std::int64_t offset, count, first_task;
  float* m;
  float* v;
  std::uint8_t* m_codes;
  std::uint8_t* v_codes;
  int row;  ///< in the caller's list of parts
  bool is_8bit, decay_last, vector;
  bool operator==(const DevicePart&) const = default;
};

/// N neighbours of 32-bit state. `squares` may be null: then nothing is summed.
template <int N>
__device__ __forceinline__ void update_32bit(float* p, const float* g, float* m, float* v, bool decay_last,
                                             const AdamNumbers& f, AdamSquares* squares) {
  float gradient[N], old_p[N], old_m[N], old_v[N];
  load<N>(g, gradient);
  load<N>(p, old_p);
  load<N>(m, old_m);
  load<N>(v, old_v);
#pragma unroll
  for (int j = 0; j < N; ++j) {
    const float scaled = __fmul_rn(gradient[j], f.gradient_scale);
    const float new_m = fmaf(__fsub_rn(scaled, old_m[j]), f.beta1_rest, old_m[j]);
    const float new_v = fmaf(old_v[j], f.beta2, __fmul_rn(__fmul_rn(scaled, scaled), f.beta2_rest));
    const float update = __fmul_rn(new_m, f.step_size) / fmaf(sqrtf(new_v), f.v_scale, f.epsilon);
    const float before = old_p[j];
    old_p[j] = decay_last ? __fmul_rn(__fsub_rn(old_p[j], update), f.keep) : fmaf(old_p[j], f.keep, -update);
    old_m[j] = new_m;
    old_v[j] = new_v;
    if (squares) squares->take(gradient[j], before, old_p[j]);
  }
  store<N>(p, old_p);
  store<N>(m, old_m);
  store<N>(v, old_v);
}

/// Elements [task * 2048, ...) of a part whose first parameter and gradient are p and g.
__device__ __forceinline__ void update_task(const DevicePart& part, std::int64_t task, float* p,
                                            const float* g, const DynamicMaps& maps, const AdamNumbers& f,
                                            AdamSquares* squares = nullptr) {
  const std::int64_t first = task * task_elements;
  if (part.is_8bit) {
    const std::int64_t at = first + static_cast<std::int64_t>(threadIdx.x / 32) * adam_block;
    if (at >= part.count) return;
    const std::int64_t block = at / adam_block;
    const std::int64_t left = part.count - at;
    update_8bit(p + at, g + at, part.m_codes + at, part.v_codes + at, part.m + block, part.v + block,
                left < adam_block ? static_cast<int>(left) : adam_block, part.vector, maps, f, squares);
    return;
  }
  const std::int64_t last = first + task_elements < part.count ? first + task_elements : part.count;
  for (std::int64_t i = first + threadIdx.x * 4; i < last; i += blockDim.x * 4) {
    if (part.vector && i + 4 <= last) {
      update_32bit<4>(p + i, g + i, part.m + i, part.v + i, part.decay_last, f, squares);
    } else {
      for (std::int64_t j = i; j < i + 4 && j < last; ++j)
        update_32bit<1>(p + j, g + j, part.m + j, part.v + j, part.decay_last, f, squares);
    }
  }
}

}  // namespace lorikeet::cuda
