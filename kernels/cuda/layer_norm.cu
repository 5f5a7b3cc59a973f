// SPDX-License-Identifier: Apache-2.0
// LayerNorm (Ba et al. 2016): n = (x - mean) * rstd, rstd = 1 / sqrt(mean((x - mean)^2) + epsilon), y = n *
// weight + bias. Backward: g = dy * weight, dx = rstd * (g - mean(g) - n * mean(g * n)). x, y, dy, dx (T,H)
// may have gaps between rows. One block a row; sums in f32, per thread, then over the warps in order;
// everything in f32 between load and store. Bytes: forward x + y, backward dy + x + dx (twice when added to);
// later passes over a row find it in the cache.
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T, int N>
__global__ void __launch_bounds__(256)
    layer_norm_forward_kernel(Rows<const T> x, const float* weight, const float* bias, float epsilon,
                              std::int64_t width, Rows<T> y, float* mean, float* rstd) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x;
  const int step = static_cast<int>(blockDim.x) * N;
  const float count = static_cast<float>(width);
  float sum = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N];
    load<N>(x.at(row, i), v);
#pragma unroll
    for (int j = 0; j < N; ++j) sum += v[j];
  }
  const float middle = block_sum(sum, shared) / count;
  float squares = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N];
    load<N>(x.at(row, i), v);
#pragma unroll
    for (int j = 0; j < N; ++j) squares += (v[j] - middle) * (v[j] - middle);
  }
  const float scale = 1.0f / sqrtf(block_sum(squares, shared) / count + epsilon);
  if (threadIdx.x == 0) {
    mean[row] = middle;
    rstd[row] = scale;
  }
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float v[N], w[N], b[N];
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
    load<N>(bias + i, b);
#pragma unroll
    for (int j = 0; j < N; ++j) v[j] = (v[j] - middle) * scale * w[j] + b[j];
    store<N>(y.at(row, i), v);
  }
}

template <typename T, int N>
__global__ void __launch_bounds__(256)
    layer_norm_backward_kernel(Rows<const T> dy, Rows<const T> x, const float* weight, const float* mean,
                               const float* rstd, std::int64_t width, Rows<T> dx, bool accumulate) {
  __shared__ float shared[32];
  const std::int64_t row = blockIdx.x;
  const int step = static_cast<int>(blockDim.x) * N;
  const float middle = mean[row];
  const float scale = rstd[row];
  float sum = 0, product = 0;
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N];
    load<N>(dy.at(row, i), g);
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
#pragma unroll
    for (int j = 0; j < N; ++j) {
      sum += g[j] * w[j];
      product += g[j] * w[j] * (v[j] - middle);
    }
  }
  const float mean_g = block_sum(sum, shared) / static_cast<float>(width);
  const float mean_gn = block_sum(product, shared) * scale * scale / static_cast<float>(width);
  for (std::int64_t i = threadIdx.x * N; i < width; i += step) {
    float g[N], v[N], w[N], before[N] = {};
    load<N>(dy.at(row, i), g);
    load<N>(x.at(row, i), v);
    load<N>(weight + i, w);
    if (accumulate) load<N>(dx.at(row, i), before);
#pragma unroll
    for (int j = 0; j < N; ++j) g[j] = (g[j] * w[j] - mean_g - (v[j] - middle) * mean_gn) * scale + before[j];
    store<N>(dx.at(row, i), g);
  }
}

dim3 grid_of(std::int64_t rows) {
  return {static_cast<unsigned>(rows), 1, 1};
}

}  // namespace

void CudaBackend::layer_norm_forward(TensorView x, TensorView weight, TensorView bias, float epsilon,
                                     TensorView y, TensorView mean, TensorView rstd) {
  constexpr const char* name = "layer_norm_forward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(*this, x, name, "x is of no compute type");
  const std::int64_t width = x.shape[1];
  check_rows(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_tensor(bias, DType::f32, {width}, name, "bias");
  check_rows(y, x.dtype, x.shape, name, "y");
  check_tensor(mean, DType::f32, {x.shape[0]}, name, "mean");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool vector = width % lanes == 0 && is_aligned({x, y, weight, bias});
    launch(stream(), name, vector ? layer_norm_forward_kernel<T, lanes> : layer_norm_forward_kernel<T, 1>,
           grid_of(x.rows()), row_threads(vector ? width / lanes : width), 0, rows_of<const T>(x),
           weight.as<float>(), bias.as<float>(), epsilon, width, rows_of<T>(y), mean.as<float>(),
           rstd.as<float>());
  });
}

void CudaBackend::layer_norm_backward(TensorView dy, TensorView x, TensorView weight, TensorView mean,
                                      TensorView rstd, TensorView dx, Write write) {
  constexpr const char* name = "layer_norm_backward";
  check(x.shape.rank() == 2, name, "x is (T,H)");
  check_compute(*this, x, name, "x is of no compute type");
  const std::int64_t width = x.shape[1];
  check_rows(x, x.dtype, x.shape, name, "x");
  check_tensor(weight, DType::f32, {width}, name, "weight");
  check_rows(dy, x.dtype, x.shape, name, "dy");
  check_rows(dx, x.dtype, x.shape, name, "dx");
  check_tensor(mean, DType::f32, {x.shape[0]}, name, "mean");
  check_tensor(rstd, DType::f32, {x.shape[0]}, name, "rstd");
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool vector = width % lanes == 0 && is_aligned({dy, x, dx, weight});
    launch(stream(), name, vector ? layer_norm_backward_kernel<T, lanes> : layer_norm_backward_kernel<T, 1>,
           grid_of(x.rows()), row_threads(vector ? width / lanes : width), 0, rows_of<const T>(dy),
           rows_of<const T>(x), weight.as<float>(), mean.as<float>(), rstd.as<float>(), width, rows_of<T>(dx),
           write == Write::accumulate);
  });
}

}  // namespace lorikeet::cuda
