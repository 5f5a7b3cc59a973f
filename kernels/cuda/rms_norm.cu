// SPDX-License-Identifier: Apache-2.0
// RMSNorm (Zhang and Sennrich 2019): n = x * rstd, rstd = 1 / sqrt(mean(x^2) + epsilon), y = round(n) *
// weight, or n * (1 + weight) in f32 (Gemma). Backward: g = dy * weight, dx = rstd * (g - n * mean(g * n)).
// x, y, dy, dx (T,H) may have gaps between rows; a weight of n < H numbers norms every n columns of a row by
// themselves. One block a normed piece; sums in f32, per thread, then over the
// warps in order. Bytes: forward x + y, backward dy + x + dx (twice when added to); the second pass over a
// row finds it in the cache.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T, int N, bool one_plus>
__global__ void __launch_bounds__(256)
    rms_norm_forward_kernel(Rows<const T> x, const float* weight, float epsilon, std::int64_t width,
                            int pieces, Rows<T> y, float* rstd) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x / pieces, from = blockIdx.x % pieces * width;
  const int step = static_cast<int>(blockDim.x) * N;
  float sum = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N];
    load<N>(x.at(row, from + i), v);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += v[j] * v[j];
  }
  const float scale = 1.0f / sqrtf(block_sum(sum, shared) / static_cast<float>(width) + epsilon);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N], w[N];
    load<N>(x.at(row, from + i), v);
    load<N>(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; ++j)
      v[j] = one_plus ? v[j] * scale * (1.0f + w[j]) : rounded<T>(v[j] * scale) * w[j];
    store<N>(y.at(row, from + i), v);
  }
}

template <typename T, int N, bool one_plus>
__global__ void __launch_bounds__(256)
    rms_norm_backward_kernel(Rows<const T> dy, Rows<const T> x, const float* weight, const float* rstd,
                             std::int64_t width, int pieces, Rows<T> dx, bool accumulate) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x / pieces, from = blockIdx.x % pieces * width;
  const int step = static_cast<int>(blockDim.x) * N;
  const float scale = rstd[blockIdx.x];
  float sum = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N];
    load<N>(dy.at(row, from + i), g);
    load<N>(x.at(row, from + i), v);
    load<N>(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += g[j] * (one_plus ? 1.0f + w[j] : w[j]) * v[j];
  }
  const float mean = block_sum(sum, shared) * scale * scale / static_cast<float>(width);
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N], before[N] = {};
    load<N>(dy.at(row, from + i), g);
    load<N>(x.at(row, from + i), v);
    load<N>(weight + i, w);
    if (accumulate) load<N>(dx.at(row, from + i), before);
#pragma unroll
    for (int j = 0; j < N; ++j)
      g[j] = (g[j] * (one_plus ? 1.0f + w[j] : w[j]) - v[j] * mean) * scale + before[j];
    store<N>(dx.at(row, from + i), g);
  }
}

dim3 grid_of(TensorView x, TensorView weight) {
  return {static_cast<unsigned>(x.elements() / weight.elements()), 1, 1};
}

int pieces_of(TensorView x, TensorView weight) {
  return static_cast<int>(x.columns() / weight.elements());
}

template <typename T, int N, bool one_plus>
void start_forward(cudaStream_t stream, TensorView x, TensorView weight, float epsilon, TensorView y,
                   TensorView rstd) {
  const std::int64_t width = weight.elements();
  launch(stream, "rms_norm_forward", rms_norm_forward_kernel<T, N, one_plus>, grid_of(x, weight),
         row_threads(width / N), 0, rows_of<const T>(x), weight.as<float>(), epsilon, width,
         pieces_of(x, weight), rows_of<T>(y), rstd.as<float>());
}
template <typename T, int N, bool one_plus>
void start_backward(cudaStream_t stream, TensorView dy, TensorView x, TensorView weight, TensorView rstd,
                    TensorView dx, bool accumulate) {
  const std::int64_t width = weight.elements();
  launch(stream, "rms_norm_backward", rms_norm_backward_kernel<T, N, one_plus>, grid_of(x, weight),
         row_threads(width / N), 0, rows_of<const T>(dy), rows_of<const T>(x), weight.as<float>(),
         rstd.as<float>(), width, pieces_of(x, weight), rows_of<T>(dx), accumulate);
}

/// Checks the operands that both directions have; gives the width of what is normed by itself.
std::int64_t checked_width(const CudaBackend& backend, TensorView x, TensorView weight, TensorView rstd,
                           const char* name) {
  check(x.shape.rank() == 2 && weight.shape.rank() == 1, name, "x is (T,H), weight [n]");
  check_compute(backend, x, name, "x is of no compute type");
  const std::int64_t width = weight.shape[0];
  check(width > 0 && x.shape[1] % width == 0, name, "the weight's width divides that of x");
  check_rows(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(rstd, DType::f32, {x.elements() / width}, name, "rstd");
  return width;
}

}  // namespace

void CudaBackend::rms_norm_forward(TensorView x, TensorView weight, float epsilon, TensorView y,
                                   TensorView rstd, NormScale scale) {
  constexpr const char* name = "rms_norm_forward";
  const std::int64_t width = checked_width(*this, x, weight, rstd, name);
  check_rows(y, x.dtype, x.shape, name, "y");
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
  const std::int64_t width = checked_width(*this, x, weight, rstd, name);
  check_rows(dy, x.dtype, x.shape, name, "dy");
  check_rows(dx, x.dtype, x.shape, name, "dx");
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
