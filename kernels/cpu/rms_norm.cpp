// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich 2019): n = x * rstd, rstd = 1 / sqrt(mean(x^2) + epsilon), y = round(n) *
// weight. Backward: g = dy * weight, dx = rstd * (g - n * mean(g * n)). Statistics in f32.
#include <cmath>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

template <typename T>
void forward_row(const T* x, const float* weight, float epsilon, std::int64_t width, T* y, float& rstd) {
  float sum = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += load(x[i]) * load(x[i]);
  rstd = 1 / std::sqrt(sum / static_cast<float>(width) + epsilon);
  for (std::int64_t i = 0; i < width; ++i) {
    T normal;
    store(normal, load(x[i]) * rstd);
    store(y[i], load(normal) * weight[i]);
  }
}

template <typename T>
void backward_row(const T* dy, const T* x, const float* weight, float rstd, std::int64_t width, T* dx,
                  Write write) {
  float sum = 0;
  for (std::int64_t i = 0; i < width; ++i) sum += load(dy[i]) * weight[i] * (load(x[i]) * rstd);
  const float mean = sum / static_cast<float>(width);
  for (std::int64_t i = 0; i < width; ++i) {
    const float gradient = rstd * (load(dy[i]) * weight[i] - load(x[i]) * rstd * mean);
    store(dx[i], write == Write::accumulate ? load(dx[i]) + gradient : gradient);
  }
}

}  // namespace

void CpuBackend::rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y,
                                  TensorView rstd) {
  constexpr const char* name = "rms_norm_forward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(y, x.dtype, x.shape, name, "y");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      float& r = rstd.as<float>()[t];
      if (x.dtype == DType::f32) {
        forward_row(x.as<float>() + t * width, weight.as<float>(), epsilon, width, y.as<float>() + t * width,
                    r);
      } else {
        forward_row(x.as<Bf16>() + t * width, weight.as<float>(), epsilon, width, y.as<Bf16>() + t * width,
                    r);
      }
    }
  });
}

void CpuBackend::rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                                   TensorView dx, Write write) {
  constexpr const char* name = "rms_norm_backward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(x, name, "x");
  const std::int64_t width = x.shape[1];
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(dy, x.dtype, x.shape, name, "dy");
  check_tensor(dx, x.dtype, x.shape, name, "dx");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  for_chunks(threads_, x.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t at = t * width;
      const float r = rstd.as<float>()[t];
      if (x.dtype == DType::f32) {
        backward_row(dy.as<float>() + at, x.as<float>() + at, weight.as<float>(), r, width,
                     dx.as<float>() + at, write);
      } else {
        backward_row(dy.as<Bf16>() + at, x.as<Bf16>() + at, weight.as<float>(), r, width, dx.as<Bf16>() + at,
                     write);
      }
    }
  });
}

}  // namespace lorikeet
