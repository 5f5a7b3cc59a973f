// SPDX-License-Identifier: Apache-2.0
// Optimiser steps on f32 parameters (Loshchilov and Hutter 2019; formats.md §2.7).
// adamw: p *= 1 - lr*decay; m, v moments; p -= lr / (1 - beta1^t) * m / (sqrt(v) / sqrt(1 - beta2^t) +
// epsilon). adamw_8bit: the moments live as codes of the dynamic maps in blocks of 256 with one absmax each;
// the decay comes last.
#include <algorithm>
#include <cmath>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"
#include "kernels/dynamic_map.h"

namespace lorikeet {

namespace {

constexpr std::int64_t sum_chunk = 1 << 14;
constexpr std::int64_t block = 256;

/// One block of the 8-bit step, n <= 256 elements.
struct Block {
  float* p;
  const float* g;
  std::uint8_t *m_codes, *v_codes;
  float *m_absmax, *v_absmax;
  std::int64_t n;
};

void step_block(const Block& b, const AdamStep& s) {
  const DynamicMap& signed_map = signed_dynamic_map();
  const DynamicMap& unsigned_map = unsigned_dynamic_map();
  const double t = static_cast<double>(s.step);
  const auto correction1 = static_cast<float>(1.0 - std::pow(static_cast<double>(s.beta1), t));
  const auto correction2 = static_cast<float>(std::sqrt(1.0 - std::pow(static_cast<double>(s.beta2), t)));
  const float step_size = -s.learning_rate * correction2 / correction1;
  const float epsilon = correction2 * s.epsilon;
  float m[block];
  float v[block];
  float m_largest = 0;
  float v_largest = 0;
  for (std::int64_t i = 0; i < b.n; ++i) {
    const float g = b.g[i] * s.gradient_scale;
    m[i] = v[i] = 0;
    if (!std::isfinite(g)) continue;
    m[i] = signed_map[b.m_codes[i]] * *b.m_absmax * s.beta1 + (1 - s.beta1) * g;
    v[i] = unsigned_map[b.v_codes[i]] * *b.v_absmax * s.beta2 + (1 - s.beta2) * g * g;
    m_largest = std::max(m_largest, std::fabs(m[i]));
    v_largest = std::max(v_largest, v[i]);
    b.p[i] += step_size * (m[i] / (std::sqrt(v[i]) + epsilon));
    if (s.weight_decay > 0) b.p[i] *= 1 - s.learning_rate * s.weight_decay;
  }
  *b.m_absmax = m_largest;
  *b.v_absmax = v_largest;
  for (std::int64_t i = 0; i < b.n; ++i) {
    std::uint8_t code = nearest_in_map(signed_map, m_largest > 0 ? m[i] / m_largest : 0.0f);
    if (std::signbit(signed_map[code]) != std::signbit(m[i]))
      code = static_cast<std::uint8_t>(m[i] > 0 ? code + 1 : code - 1);
    b.m_codes[i] = code;
    b.v_codes[i] = nearest_in_map(unsigned_map, v_largest > 0 ? v[i] / v_largest : 0.0f);
  }
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
    double part = 0;
    for (std::int64_t i = first; i < last; ++i)
      part += static_cast<double>(values[i]) * static_cast<double>(values[i]);
    partial[first / sum_chunk] = part;
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
  const double t = static_cast<double>(step.step);
  const auto correction1 = static_cast<float>(1.0 - std::pow(static_cast<double>(step.beta1), t));
  const auto correction2 = static_cast<float>(std::sqrt(1.0 - std::pow(static_cast<double>(step.beta2), t)));
  const float step_size = step.learning_rate / correction1;
  const float keep = 1 - step.learning_rate * step.weight_decay;
  for_chunks(threads_, count, 1 << 14, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const float g = gradient.as<float>()[i] * step.gradient_scale;
      float& mi = m.as<float>()[i];
      float& vi = v.as<float>()[i];
      mi = mi + (g - mi) * (1 - step.beta1);
      vi = vi * step.beta2 + g * g * (1 - step.beta2);
      float& p = parameter.as<float>()[i];
      const float update = step_size * (mi / (std::sqrt(vi) / correction2 + step.epsilon));
      p = step.decay_last ? (p - update) * keep : p * keep - update;
    }
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
  for_chunks(threads_, blocks, 16, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = i * block;
      step_block(
          {parameter.as<float>() + at, gradient.as<float>() + at, state.m_codes.as<std::uint8_t>() + at,
           state.v_codes.as<std::uint8_t>() + at, state.m_absmax.as<float>() + i,
           state.v_absmax.as<float>() + i, std::min(block, count - at)},
          step);
    }
  });
}

}  // namespace lorikeet
