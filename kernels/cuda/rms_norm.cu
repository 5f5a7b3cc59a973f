// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich 2019): n = x * rstd, rstd = 1 / sqrt(mean(x^2) + epsilon), y = round(n) *
// weight, or n * (1 + weight) in f32 (Gemma). Backward: g = dy * weight, dx = rstd * (g - n * mean(g * n)).
// x, y, dy, dx (T,H) may have gaps between rows. One block a row; sums in f32, per thread, then over the
// warps in order. Bytes: forward x + y, backward dy + x + dx (twice when added to); the second pass over a
// row finds it in the cache.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T, int N, bool one_plus>
__global__ void __launch_bounds__(256)
    rms_norm_forward_kernel(Rows<const T> x, const float* weight, float epsilon, std::int64_t width,
                            Rows<T> y, float* rstd) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x;
  const int step = static_cast<int>(blockDim.x) * N;
  float sum = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N];
    load<N>(x.at(row, i), v);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += v[j] * v[j];
  }
  const float scale = 1.0f / sqrtf(block_sum(sum, shared) / static_cast<float>(width) + epsilon);
  if (threadIdx.x == 0) rstd[row] = scale;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N], w[N];
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; ++j)
      v[j] = one_plus ? v[j] * scale * (1.0f + w[j]) : rounded<T>(v[j] * scale) * w[j];
    store<N>(y.at(row, i), v);
  }
}

template <typename T, int N, bool one_plus>
__global__ void __launch_bounds__(256)
    rms_norm_backward_kernel(Rows<const T> dy, Rows<const T> x, const float* weight, const float* rstd,
                             std::int64_t width, Rows<T> dx, bool accumulate) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x;
  const int step = static_cast<int>(blockDim.x) * N;
  const float scale = rstd[row];
  float sum = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N];
    load<N>(dy.at(row, i), g);
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += g[j] * (one_plus ? 1.0f + w[j] : w[j]) * v[j];
  }
  const float mean = block_sum(sum, shared) * scale * scale / static_cast<float>(width);
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N], before[N] = {};
    load<N>(dy.at(row, i), g);
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
    if (accumulate) load<N>(dx.at(row, i), before);
#pragma unroll
    for (int j = 0; j < N; ++j)
      g[j] = (g[j] * (one_plus ? 1.0f + w[j] : w[j]) - v[j] * mean) * scale + before[j];
    store<N>(dx.at(row, i), g);
  }
}

dim3 grid_of(std::int64_t rows) {
  return {static_cast<unsigned>(rows), 1, 1};
}

template <typename T, int N, bool one_plus>
void start_forward(cudaStream_t stream, TensorView x, TensorView weight, float epsilon, TensorView y,
                   TensorView rstd) {
  const std::int64_t width = x.columns();
  launch(stream, "rms_norm_forward", rms_norm_forward_kernel<T, N, one_plus>, grid_of(x.rows()),
         row_threads(width / N), 0, rows_of<const T>(x), weight.as<float>(), epsilon, width, rows_of<T>(y),
         rstd.as<float>());
}
template <typename T, int N, bool one_plus>
void start_backward(cudaStream_t stream, TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                    TensorView dx, bool accumulate) {
  const std::int64_t width = x.columns();
  launch(stream, "rms_norm_backward", rms_norm_backward_kernel<T, N, one_plus>, grid_of(x.rows()),
         row_threads(width / N), 0, rows_of<const T>(dy), rows_of<const T>(x), weight.as<float>(),
         rstd.as<float>(), width, rows_of<T>(dx), accumulate);
}

}  // namespace

void CudaBackend::rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y,
                                   TensorView rstd, NormScale scale) {
  constexpr const char* name = "rms_norm_forward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(*this, x, name, "x is of no compute type");
  const std::int64_t width = x.shape[1];
  check_rows(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_rows(y, x.dtype, x.shape, name, "y");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool vector = width % lanes == 0 && is_aligned({x, y, weight});
    const bool plus = scale == NormScale::one_plus_weight;
    const auto start = vector ? (plus ? start_forward<T, lanes, true> : start_forward<T, lanes, false>)
                              : (plus ? start_forward<T, 1, true> : start_forward<T, 1, false>);
    start(stream(), x, weight, epsilon, y, rstd);
  });
}

void CudaBackend::rms_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                                    TensorView dx, Write write, NormScale scale) {
  constexpr const char* name = "rms_norm_backward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(*this, x, name, "x is of no compute type");
  const std::int64_t width = x.shape[1];
  check_rows(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_rows(dy, x.dtype, x.shape, name, "dy");
  check_rows(dx, x.dtype, x.shape, name, "dx");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool vector = width % lanes == 0 && is_aligned({dy, x, dx, weight});
    const bool plus = scale == NormScale::one_plus_weight;
    const auto start = vector ? (plus ? start_backward<T, lanes, true> : start_backward<T, lanes, false>)
                              : (plus ? start_backward<T, 1, true> : start_backward<T, 1, false>);
    start(stream(), dy, x, weight, rstd, dx, write == Write::accumulate);
  });
}

}  // namespace lorikeet::cuda
