// SPDX-License-Identifier: Apache-2.0
// Optimiser steps on f32 parameters (Loshchilov and Hutter 2019; formats.md §2.7).
// adamw: p *= 1 - lr*decay; m, v moments; p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) +
// epsilon). adamw_8bit: the moments live as codes of the dynamic maps in blocks of 256 with one absmax each;
// the decay comes last.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dynamic_map.h"

namespace lorikeet {

namespace {

constexpr std::int64_t sum_chunk = 1 << 14;
constexpr std::int64_t block = 256;

simd::MapIndex make_index(const DynamicMap& map) {
  simd::MapIndex index{};
  for (std::size_t i = 0; i < map.size(); ++i) {
    index.values[i] = map[i];
    index.midpoints[i] =
        i + 1 < map.size() ? (map[i] + map[i + 1]) * 0.5f : std::numeric_limits<float>::infinity();
  }
  for (std::uint32_t bucket = 0; bucket < simd::MapIndex::buckets; ++bucket) {
    const float edge = bucket == 0 ? 0.0f : std::bit_cast<float>((bucket + simd::MapIndex::first) << 16);
    // The code of the bucket's value nearest to zero, or the one below that for negative values.
    index.below[0][bucket] = static_cast<std::uint8_t>(std::min<int>(nearest_in_map(map, edge), 254));
    index.below[1][bucket] =
        static_cast<std::uint8_t>(std::clamp<int>(nearest_in_map(map, -edge) - 1, 0, 254));
  }
  return index;
}

simd::AdamFactors factors_of(const AdamStep& s) {
  simd::AdamFactors f{};
  f.gradient_scale = s.gradient_scale;
  f.beta1 = s.beta1;
  f.beta1_rest = 1 - s.beta1;
  f.beta2 = s.beta2;
  f.beta2_rest = 1 - s.beta2;
  f.decay_last = s.decay_last;
  f.keep = 1 - s.learning_rate * s.weight_decay;
  return f;
}

/// 1 - beta1^t and sqrt(1 - beta2^t).
struct Corrections {
  double first, second;
};
Corrections corrections_of(const AdamStep& s) {
  const double t = static_cast<double>(s.step);
  return {1.0 - std::pow(static_cast<double>(s.beta1), t),
          std::sqrt(1.0 - std::pow(static_cast<double>(s.beta2), t))};
}

}  // namespace

void CpuBackend::sum_of_squares(TensorView x, TensorView sum) {
  constexpr const char* name = "sum_of_squares";
  check_tensor(x, DType::f32, x.shape, name, "x");
  check_tensor(sum, DType::f64, {1}, name, "sum");
  const std::int64_t count = x.elements();
  const std::int64_t chunks = (count + sum_chunk - 1) / sum_chunk;
  auto* partial = static_cast<double*>(scratch_.get(chunks * 8));
  const float* values = x.as<float>();
  for_chunks(threads_, count, sum_chunk, [&](std::int64_t first, std::int64_t last) {
    partial[first / sum_chunk] = simd_.optimizer->sum_of_squares(values + first, last - first);
  });
  for (std::int64_t i = 0; i < chunks; ++i) *sum.as<double>() += partial[i];
}

void CpuBackend::adamw(TensorView parameter, TensorView gradient, TensorView m, TensorView v,
                       const AdamStep& step) {
  constexpr const char* name = "adamw";
  check_tensor(parameter, DType::f32, parameter.shape, name, "parameter");
  check_tensor(gradient, DType::f32, parameter.shape, name, "gradient");
  const std::int64_t count = parameter.elements();
  check_tensor(m, DType::f32, m.shape, name, "m");
  check_tensor(v, DType::f32, v.shape, name, "v");
  check(m.elements() == count && v.elements() == count, name, "m and v have another size than the parameter");
  check(step.step >= 1, name, "step counts from 1");
  const Corrections corrections = corrections_of(step);
  simd::AdamFactors factors = factors_of(step);
  factors.step_size = static_cast<float>(static_cast<double>(step.learning_rate) / corrections.first);
  factors.v_scale = static_cast<float>(1.0 / corrections.second);
  factors.epsilon = step.epsilon;
  for_chunks(threads_, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
    simd_.optimizer->adamw(parameter.as<float>() + first, gradient.as<float>() + first, m.as<float>() + first,
                           v.as<float>() + first, last - first, factors);
  });
}

void CpuBackend::adamw_8bit(TensorView parameter, TensorView gradient, const Adam8bitState& state,
                            const AdamStep& step) {
  constexpr const char* name = "adamw_8bit";
  check_tensor(parameter, DType::f32, parameter.shape, name, "parameter");
  check_tensor(gradient, DType::f32, parameter.shape, name, "gradient");
  const std::int64_t count = parameter.elements();
  const std::int64_t blocks = (count + block - 1) / block;
  check_tensor(state.m_codes, DType::u8, state.m_codes.shape, name, "m_codes");
  check_tensor(state.v_codes, DType::u8, state.v_codes.shape, name, "v_codes");
  check(state.m_codes.elements() == count && state.v_codes.elements() == count, name,
        "the codes have another size than the parameter");
  check_tensor(state.m_absmax, DType::f32, {blocks}, name, "m_absmax");
  check_tensor(state.v_absmax, DType::f32, {blocks}, name, "v_absmax");
  check(step.step >= 1, name, "step counts from 1");
  static const simd::MapIndex m_map = make_index(signed_dynamic_map());
  static const simd::MapIndex v_map = make_index(unsigned_dynamic_map());
  const Corrections corrections = corrections_of(step);
  simd::AdamFactors factors = factors_of(step);
  factors.step_size =
      static_cast<float>(static_cast<double>(step.learning_rate) * corrections.second / corrections.first);
  factors.epsilon = static_cast<float>(static_cast<double>(step.epsilon) * corrections.second);
  for_chunks(threads_, blocks, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i * block;
      simd_.optimizer->adamw_8bit(
          {parameter.as<float>() + at, gradient.as<float>() + at, state.m_codes.as<std::uint8_t>() + at,
           state.v_codes.as<std::uint8_t>() + at, state.m_absmax.as<float>() + i,
           state.v_absmax.as<float>() + i, std::min(block, count - at)},
          m_map, v_map, factors);
    }
  });
}

}  // namespace lorikeet
