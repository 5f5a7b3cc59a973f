// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich 2019): n = x * rstd, rstd = 1 / sqrt(mean(x^2) + epsilon), y = round(n) *
// weight, or n * (1 + weight) in f32 (Gemma). Backward: g = dy * weight, dx = rstd * (g - n * mean(g * n)).
// Statistics in f32.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y,
                                  TensorView rstd, NormScale scale) {
  constexpr const char* name = "rms_norm_forward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(y, x.dtype, x.shape, name, "y");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  const auto& kernels = scale == NormScale::weight ? simd_.elements->rms_norm : simd_.elements->rms_norm_plus;
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    kernels[type_index(x.dtype)](element_at(x, first * width), weight.as<float>(), epsilon, last - first,
                                 width, element_at(y, first * width), rstd.as<float>() + first);
  });
}

void CpuBackend::rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                                   TensorView dx, Write write, NormScale scale) {
  constexpr const char* name = "rms_norm_backward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(dy, x.dtype, x.shape, name, "dy");
  check_tensor(dx, x.dtype, x.shape, name, "dx");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  const auto& kernels =
      scale == NormScale::weight ? simd_.elements->rms_norm_backward : simd_.elements->rms_norm_plus_backward;
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t at = first * width;
    kernels[type_index(x.dtype)](element_at(dy, at), element_at(x, at), weight.as<float>(),
                                 rstd.as<float>() + first, last - first, width, element_at(dx, at),
                                 write == Write::accumulate);
  });
}

}  // namespace lorikeet
