// SPDX-License-Identifier: Apache-2.0
// Gated linear units (Shazeer 2020): h = f(gate) * up, all (T,I), which may have gaps between rows.
// SwiGLU: f(x) = x * s, f'(x) = s * (1 + x * (1 - s)), s = 1 / (1 + exp(-x)).
// GeGLU, tanh form: f(x) = x * s, f'(x) = s + x * s * (1 - s) * u'(x), s = 1 / (1 + exp(-u)),
// u = 2 sqrt(2/pi) (x + 0.044715 x^3), since (1 + tanh(a)) / 2 = 1 / (1 + exp(-2a)).
// Backward: dgate = dh * up * f'(gate), dup = dh * f(gate), over gate and up where they are given; h again on
// request. All in f32 between load and store. Bytes: forward 2 reads + 1 write of T*I, backward 3 reads + 2
// writes (+1 for h).
#include "kernels/cuda/activation.cuh"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"

namespace lorikeet::cuda {
namespace {

template <Activation f>
__device__ __forceinline__ Slope activate(float x) {
  return f == Activation::silu ? silu(x) : gelu(x);
}

template <typename T, int N, Activation f>
__global__ void __launch_bounds__(256) glu_forward_kernel(std::int64_t rows, std::int64_t width,
                                                          Rows<const T> gate, Rows<const T> up, Rows<T> h) {
  for_units<N>(rows, width, [&](auto at) {
    float g[at.count], u[at.count];
    at.load(gate, g);
    at.load(up, u);
#pragma unroll
    for (int j = 0; j < at.count; ++j) g[j] = activate<f>(g[j]).value * u[j];
    at.store(h, g);
  });
}

template <typename T, int N, Activation f, bool with_h>
__global__ void __launch_bounds__(256, 4)
    glu_backward_kernel(std::int64_t rows, std::int64_t width, Rows<const T> dh, Rows<const T> gate,
                        Rows<const T> up, Rows<T> dgate, Rows<T> dup, Rows<T> h) {
  for_units<N>(rows, width, [&](auto at) {
    float d[at.count], g[at.count], u[at.count], again[at.count];
    at.load(dh, d);
    at.load(gate, g);
    at.load(up, u);
#pragma unroll
    for (int j = 0; j < at.count; ++j) {
      const Slope a = activate<f>(g[j]);
      again[j] = a.value * u[j];
      g[j] = d[j] * u[j] * a.slope;
      u[j] = d[j] * a.value;
    }
    at.store(dgate, g);
    at.store(dup, u);
    if (with_h) at.store(h, again);
  });
}

template <typename T, int N, Activation f>
void start_forward(cudaStream_t stream, const Extent& e, TensorView gate, TensorView up, TensorView h) {
  launch(stream, "glu_forward", glu_forward_kernel<T, N, f>, e.grid(N), Extent::threads, 0, e.rows, e.width,
         rows_of<const T>(gate), rows_of<const T>(up), rows_of<T>(h));
}
template <typename T, int N, Activation f>
void start_backward(cudaStream_t stream, const Extent& e, TensorView dh, TensorView gate, TensorView up,
                    TensorView dgate, TensorView dup, TensorView h) {
  launch(stream, "glu_backward", h ? glu_backward_kernel<T, N, f, true> : glu_backward_kernel<T, N, f, false>,
         e.grid(N), Extent::threads, 0, e.rows, e.width, rows_of<const T>(dh), rows_of<const T>(gate),
         rows_of<const T>(up), rows_of<T>(dgate), rows_of<T>(dup), h ? rows_of<T>(h) : Rows<T>{});
}

}  // namespace

void CudaBackend::glu_forward(TensorView gate, TensorView up, TensorView h, Activation f) {
  constexpr const char* name = "glu_forward";
  check_compute(*this, gate, name, "gate is of no compute type");
  check_rows(gate, gate.dtype, gate.shape, name, "gate");
  check_rows(up, gate.dtype, gate.shape, name, "up");
  check_rows(h, gate.dtype, gate.shape, name, "h");
  const Extent e = extent_of({gate, up, h});
  with_compute_type(gate.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool silu = f == Activation::silu;
    const auto start =
        e.vector
            ? (silu ? start_forward<T, lanes, Activation::silu> : start_forward<T, lanes, Activation::gelu>)
            : (silu ? start_forward<T, 1, Activation::silu> : start_forward<T, 1, Activation::gelu>);
    start(stream(), e, gate, up, h);
  });
}

void CudaBackend::glu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate,
                               TensorView dup, TensorView h, Activation f) {
  constexpr const char* name = "glu_backward";
  check_compute(*this, gate, name, "gate is of no compute type");
  check_rows(gate, gate.dtype, gate.shape, name, "gate");
  check_rows(dh, gate.dtype, gate.shape, name, "dh");
  check_rows(up, gate.dtype, gate.shape, name, "up");
  check_rows(dgate, gate.dtype, gate.shape, name, "dgate");
  check_rows(dup, gate.dtype, gate.shape, name, "dup");
  if (h) check_rows(h, gate.dtype, gate.shape, name, "h");
  const Extent e = extent_of({gate, dh, up, dgate, dup, h ? h : gate});
  with_compute_type(gate.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    const bool silu = f == Activation::silu;
    const auto start =
        e.vector
            ? (silu ? start_backward<T, lanes, Activation::silu> : start_backward<T, lanes, Activation::gelu>)
            : (silu ? start_backward<T, 1, Activation::silu> : start_backward<T, 1, Activation::gelu>);
    start(stream(), e, dh, gate, up, dgate, dup, h);
  });
}

}  // namespace lorikeet::cuda
