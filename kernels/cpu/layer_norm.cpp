// SPDX-License-Identifier: Apache-2.0
// LayerNorm (Ba et al. 2016): n = (x - mean) * rstd, rstd = 1 / sqrt(mean((x - mean)^2) + epsilon), y = n *
// weight + bias. Backward: g = dy * weight, dx = rstd * (g - mean(g) - n * mean(g * n)). Statistics in f32,
// everything in f32 between loads and stores.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::layer_norm_forward(TensorView x, TensorView weight, TensorView bias, float epsilon,
                                    TensorView y, TensorView mean, TensorView rstd) {
  constexpr const char* name = "layer_norm_forward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(bias, DType::f32, {width}, name, "bias");
  check_tensor(y, x.dtype, x.shape, name, "y");
  check_tensor(mean, DType::f32, {x.shape[0]}, name, "mean");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    simd_.elements->layer_norm[type_index(x.dtype)](
        element_at(x, first * width), weight.as<float>(), bias.as<float>(), epsilon, last - first, width,
        element_at(y, first * width), mean.as<float>() + first, rstd.as<float>() + first);
  });
}

void CpuBackend::layer_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView mean,
                                     TensorView rstd, TensorView dx, Write write) {
  constexpr const char* name = "layer_norm_backward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(dy, x.dtype, x.shape, name, "dy");
  check_tensor(dx, x.dtype, x.shape, name, "dx");
  check_tensor(mean, DType::f32, {x.shape[0]}, name, "mean");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    const std::int64_t at = first * width;
    simd_.elements->layer_norm_backward[type_index(x.dtype)](
        element_at(dy, at), element_at(x, at), weight.as<float>(), mean.as<float>() + first,
        rstd.as<float>() + first, last - first, width, element_at(dx, at), write == Write::accumulate);
  });
}

}  // namespace lorikeet
