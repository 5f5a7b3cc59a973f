// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich 2019): n = x * rstd, rstd = 1 / sqrt(mean(x^2) + epsilon), y = round(n) *
// weight, or n * (1 + weight) in f32 (Gemma). Backward: g = dy * weight, dx = rstd * (g - n * mean(g * n)).
// Statistics in f32. A weight narrower than x norms pieces of rows: rows without gaps are then just more,
// shorter ones.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {
namespace {

/// Extents of the norm: rows of the weight's width.
struct NormShape {
  NormShape(const TensorView& x, const TensorView& weight, const char* name) {
    check(x.shape.rank() == 2 && weight.shape.rank() == 1, name, "x is (T,H), weight [n]");
    check_compute(x, name, "x");
    width = weight.shape[0];
    check(width > 0 && x.shape[1] % width == 0, name, "the weight's width divides that of x");
    rows = x.shape[0] * (x.shape[1] / width);
    check_tensor(weight, DType::f32, {width}, name, "weight");
  }
  std::int64_t rows = 0, width = 0;
};

}  // namespace

void CpuBackend::rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y,
                                  TensorView rstd, NormScale scale) {
  constexpr const char* name = "rms_norm_forward";
  const NormShape shape(x, weight, name);
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(y, x.dtype, x.shape, name, "y");
  check_tensor(rstd, DType::f32, {shape.rows}, name, "rstd");
  const auto& kernels = scale == NormScale::weight ? simd_.elements->rms_norm : simd_.elements->rms_norm_plus;
  for_chunks(threads_, shape.rows, row_chunk(shape.width), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t at = first * shape.width;
    kernels[type_index(x.dtype)](element_at(x, at), weight.as<float>(), epsilon, last - first, shape.width,
                                 element_at(y, at), rstd.as<float>() + first);
  });
}

void CpuBackend::rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                                   TensorView dx, Write write, NormScale scale) {
  constexpr const char* name = "rms_norm_backward";
  const NormShape shape(x, weight, name);
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(dy, x.dtype, x.shape, name, "dy");
  check_tensor(dx, x.dtype, x.shape, name, "dx");
  check_tensor(rstd, DType::f32, {shape.rows}, name, "rstd");
  const auto& kernels =
      scale == NormScale::weight ? simd_.elements->rms_norm_backward : simd_.elements->rms_norm_plus_backward;
  for_chunks(threads_, shape.rows, row_chunk(shape.width), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t at = first * shape.width;
    kernels[type_index(x.dtype)](element_at(dy, at), element_at(x, at), weight.as<float>(),
                                 rstd.as<float>() + first, last - first, shape.width, element_at(dx, at),
                                 write == Write::accumulate);
  });
}

}  // namespace lorikeet
