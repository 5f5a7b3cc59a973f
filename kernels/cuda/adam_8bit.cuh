// SPDX-License-Identifier: Apache-2.0
// The update of one block of 8-bit state by one warp; formulas and rounding as
// kernels/cpu/simd/optimizer.cpp.
#pragma once

#include <cstdint>
#include <limits>

#include "kernels/cuda/adam_numbers.cuh"
#include "kernels/cuda/elements.cuh"

namespace lorikeet::cuda {

constexpr int adam_block = 256;  ///< values of one absmax

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

/// One 8-bit block by one warp: n values, 1 ... 256. `squares` may be null: then nothing is summed.
__device__ __forceinline__ void update_8bit(float* p, const float* g, std::uint8_t* m_codes,
                                            std::uint8_t* v_codes, float* m_absmax, float* v_absmax, int n,
                                            bool vector, const DynamicMaps& maps, const AdamNumbers& f,
                                            AdamSquares* squares) {
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
  float before[adam_lanes];
#pragma unroll
  for (int j = 0; j < adam_lanes; ++j) before[j] = a.p[j];
  float m_largest = 0, v_largest = 0;
  update_lanes(a, m_largest, v_largest, f);
  if (squares) {
#pragma unroll
    for (int j = 0; j < adam_lanes; ++j) squares->take(a.g[j], before[j], a.p[j]);
  }
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

}  // namespace lorikeet::cuda
