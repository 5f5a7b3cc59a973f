// SPDX-License-Identifier: Apache-2.0
// The update of up to 2048 parameters by one block of 256 threads; formulas and rounding as
// kernels/cpu/simd/optimizer.cpp.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/elements.cuh"

namespace lorikeet::cuda {

constexpr int adam_block = 256;               ///< of the 8-bit state: one absmax each
constexpr std::int64_t task_elements = 2048;  ///< what a block takes at a time: one 8-bit block a warp

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

/// One tensor of an adapter. m and v are moments, or absmax values beside codes.
struct DevicePart {
  std::int64_t offset, count, first_task;
  float* m;
  float* v;
  std::uint8_t* m_codes;
  std::uint8_t* v_codes;
  bool is_8bit, decay_last, vector;
  bool operator==(const DevicePart&) const = default;
};

/// A dynamic map and the midpoints between its entries; the last is infinite.
struct MapWithMidpoints {
  float values[256], midpoints[256];

  void fill(const float* map) {
    for (int i = 0; i < 256; ++i) values[i] = map[i];
    for (int i = 0; i < 255; ++i) midpoints[i] = (map[i] + map[i + 1]) * 0.5f;
    midpoints[255] = std::numeric_limits<float>::infinity();
  }
  /// Number of midpoints below x: the code of the nearest entry, the lower one at a midpoint.
  __device__ __forceinline__ unsigned nearest(float x) const {
    unsigned code = 0;
#pragma unroll
    for (unsigned step = 128; step > 0; step /= 2) code += x > midpoints[code + step - 1] ? step : 0;
    return code;
  }
};
struct DynamicMaps {
  MapWithMidpoints m, v;
};

/// Brings the maps into shared memory, by the whole block.
__device__ __forceinline__ void load_maps(const DynamicMaps* from, DynamicMaps& to) {
  constexpr int floats = sizeof(DynamicMaps) / sizeof(float);
  const float* source = reinterpret_cast<const float*>(from);
  float* target = reinterpret_cast<float*>(&to);
  for (int i = static_cast<int>(threadIdx.x); i < floats; i += static_cast<int>(blockDim.x))
    target[i] = source[i];
  __syncthreads();
}

/// N neighbours of 32-bit state.
template <int N>
__device__ __forceinline__ void update_32bit(float* p, const float* g, float* m, float* v, bool decay_last,
                                             const AdamNumbers& f) {
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
    old_p[j] = decay_last ? __fmul_rn(__fsub_rn(old_p[j], update), f.keep) : fmaf(old_p[j], f.keep, -update);
    old_m[j] = new_m;
    old_v[j] = new_v;
  }
  store<N>(p, old_p);
  store<N>(m, old_m);
  store<N>(v, old_v);
}

constexpr int adam_lanes = adam_block / 32;  ///< neighbours of an 8-bit block in one thread

/// The eight values of a thread of one 8-bit block. Those past the end are zero and change nothing.
struct AdamLanes {
  float p[adam_lanes], g[adam_lanes], m[adam_lanes], v[adam_lanes];
};

__device__ __forceinline__ void update_lanes(AdamLanes& a, float& m_largest, float& v_largest,
                                             const AdamNumbers& f) {
#pragma unroll
  for (int j = 0; j < adam_lanes; ++j) {
    const float raw = __fmul_rn(a.g[j], f.gradient_scale);
    if (isfinite(raw)) {
      a.m[j] = fmaf(a.m[j], f.beta1, __fmul_rn(f.beta1_rest, raw));
      a.v[j] = fmaf(a.v[j], f.beta2, __fmul_rn(__fmul_rn(f.beta2_rest, raw), raw));
      const float quotient = a.m[j] / __fadd_rn(sqrtf(a.v[j]), f.epsilon_8bit);
      a.p[j] = __fmul_rn(fmaf(-f.step_size_8bit, quotient, a.p[j]), f.keep);
    } else {
      a.m[j] = 0;
      a.v[j] = 0;
    }
    m_largest = fmaxf(m_largest, fabsf(a.m[j]));
    v_largest = fmaxf(v_largest, a.v[j]);
  }
}

/// Codes of a thread's eight values, in the order of memory from the lowest byte.
template <bool is_signed>
__device__ __forceinline__ std::uint64_t encode(const MapWithMidpoints& map, const float (&x)[adam_lanes],
                                                float absmax) {
  const float divisor = absmax > 0 ? absmax : 1;
  const unsigned zero = is_signed ? map.nearest(0) : 0;
  std::uint64_t codes = 0;
#pragma unroll
  for (int j = 0; j < adam_lanes; ++j) {
    const float scaled = x[j] / divisor;
    unsigned code = map.nearest(scaled);
    // A negative moment keeps its sign; zero counts as positive.
    if (is_signed && code == zero && scaled < 0) --code;
    codes |= static_cast<std::uint64_t>(code) << (8 * j);
  }
  return codes;
}

/// One 8-bit block by one warp: n values, 1 ... 256.
__device__ __forceinline__ void update_8bit(float* p, const float* g, std::uint8_t* m_codes,
                                            std::uint8_t* v_codes, float* m_absmax, float* v_absmax, int n,
                                            bool vector, const DynamicMaps& maps, const AdamNumbers& f) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int first = lane * adam_lanes;
  const bool whole = vector && n == adam_block;
  AdamLanes a{};
  std::uint64_t m = 0, v = 0;  // codes, the first in the lowest byte
  if (whole) {
    load<adam_lanes>(p + first, a.p);
    load<adam_lanes>(g + first, a.g);
    m = *reinterpret_cast<const std::uint64_t*>(m_codes + first);
    v = *reinterpret_cast<const std::uint64_t*>(v_codes + first);
  } else {
#pragma unroll
    for (int j = 0; j < adam_lanes; ++j) {
      const bool inside = first + j < n;  // past the end: the codes of zero
      a.p[j] = inside ? p[first + j] : 0;
      a.g[j] = inside ? g[first + j] : 0;
      m |= static_cast<std::uint64_t>(inside ? m_codes[first + j] : 0x7f) << (8 * j);
      v |= static_cast<std::uint64_t>(inside ? v_codes[first + j] : 0) << (8 * j);
    }
  }
  const float old_m = *m_absmax, old_v = *v_absmax;
  __syncwarp();  // all have read them before lane 0 writes
#pragma unroll
  for (int j = 0; j < adam_lanes; ++j) {
    a.m[j] = __fmul_rn(maps.m.values[(m >> (8 * j)) & 255], old_m);
    a.v[j] = __fmul_rn(maps.v.values[(v >> (8 * j)) & 255], old_v);
  }
  float m_largest = 0, v_largest = 0;
  update_lanes(a, m_largest, v_largest, f);
  m_largest = warp_max(m_largest);
  v_largest = warp_max(v_largest);
  if (lane == 0) {
    *m_absmax = m_largest;
    *v_absmax = v_largest;
  }
  m = encode<true>(maps.m, a.m, m_largest);
  v = encode<false>(maps.v, a.v, v_largest);
  if (whole) {
    store<adam_lanes>(p + first, a.p);
    *reinterpret_cast<std::uint64_t*>(m_codes + first) = m;
    *reinterpret_cast<std::uint64_t*>(v_codes + first) = v;
    return;
  }
#pragma unroll
  for (int j = 0; j < adam_lanes; ++j) {
    if (first + j >= n) continue;
    p[first + j] = a.p[j];
    m_codes[first + j] = static_cast<std::uint8_t>(m >> (8 * j));
    v_codes[first + j] = static_cast<std::uint8_t>(v >> (8 * j));
  }
}

/// Elements [task * 2048, ...) of a part whose first parameter and gradient are p and g.
__device__ __forceinline__ void update_task(const DevicePart& part, std::int64_t task, float* p,
                                            const float* g, const DynamicMaps& maps, const AdamNumbers& f) {
  const std::int64_t first = task * task_elements;
  if (part.is_8bit) {
    const std::int64_t at = first + static_cast<std::int64_t>(threadIdx.x / 32) * adam_block;
    if (at >= part.count) return;
    const std::int64_t block = at / adam_block;
    const std::int64_t left = part.count - at;
    update_8bit(p + at, g + at, part.m_codes + at, part.v_codes + at, part.m + block, part.v + block,
                left < adam_block ? static_cast<int>(left) : adam_block, part.vector, maps, f);
    return;
  }
  const std::int64_t last = first + task_elements < part.count ? first + task_elements : part.count;
  for (std::int64_t i = first + threadIdx.x * 4; i < last; i += blockDim.x * 4) {
    if (part.vector && i + 4 <= last) {
      update_32bit<4>(p + i, g + i, part.m + i, part.v + i, part.decay_last, f);
    } else {
      for (std::int64_t j = i; j < i + 4 && j < last; ++j)
        update_32bit<1>(p + j, g + j, part.m + j, part.v + j, part.decay_last, f);
    }
  }
}

}  // namespace lorikeet::cuda
