// SPDX-License-Identifier: Apache-2.0
// GELU, tanh form (Hendrycks and Gimpel 2016; "gelu_new"): y = x s(x), dx = dy (s + x s (1 - s) u'), with s
// and u of glu.cu. x, y, dy and dx have one shape and may have gaps between rows; dx may be dy. All in f32
// between load and store. Bytes: forward 1 read + 1 write, backward 2 reads + 1 write.
#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T, int N>
__global__ void __launch_bounds__(256)
    gelu_forward_kernel(std::int64_t rows, std::int64_t width, Rows<const T> x, Rows<T> y) {
  for_units<N>(rows, width, [&](auto at) {
    float v[at.count];
    at.load(x, v);
#pragma unroll
    for (int j = 0; j < at.count; ++j) v[j] = gelu(v[j]).value;
    at.store(y, v);
  });
}

template <typename T, int N>
__global__ void __launch_bounds__(256) gelu_backward_kernel(std::int64_t rows, std::int64_t width,
                                                            Rows<const T> dy, Rows<const T> x, Rows<T> dx) {
  for_units<N>(rows, width, [&](auto at) {
    float d[at.count], v[at.count];
    at.load(dy, d);
    at.load(x, v);
#pragma unroll
    for (int j = 0; j < at.count; ++j) v[j] = d[j] * gelu(v[j]).slope;
    at.store(dx, v);
  });
}

}  // namespace

void CudaBackend::gelu_forward(TensorView x, TensorView y) {
  constexpr const char* name = "gelu_forward";
  check_compute(*this, x, name, "x is of no compute type");
  check_rows(x, x.dtype, x.shape, name, "x");
  check_rows(y, x.dtype, x.shape, name, "y");
  const Extent e = extent_of({x, y});
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    launch(stream(), name, e.vector ? gelu_forward_kernel<T, lanes> : gelu_forward_kernel<T, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const T>(x),
           rows_of<T>(y));
  });
}

void CudaBackend::gelu_backward(TensorView dy, TensorView x, TensorView dx) {
  constexpr const char* name = "gelu_backward";
  check_compute(*this, x, name, "x is of no compute type");
  check_rows(x, x.dtype, x.shape, name, "x");
  check_rows(dy, x.dtype, x.shape, name, "dy");
  check_rows(dx, x.dtype, x.shape, name, "dx");
  const Extent e = extent_of({x, dy, dx});
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    launch(stream(), name, e.vector ? gelu_backward_kernel<T, lanes> : gelu_backward_kernel<T, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<const T>(dy),
           rows_of<const T>(x), rows_of<T>(dx));
  });
}

}  // namespace lorikeet::cuda
