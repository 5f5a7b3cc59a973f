// SPDX-License-Identifier: Apache-2.0
// GELU, tanh form (Hendrycks and Gimpel 2016; "gelu_new"): y = x s, s = 1 / (1 + exp(-u)), u = 2 sqrt(2/pi)
// (x + 0.044715 x^3), since (1 + tanh(a)) / 2 = 1 / (1 + exp(-2a)). Backward: dx = dy (s + x s (1 - s) u').
// All in f32 between loads and stores.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::gelu_forward(TensorView x, TensorView y) {
  constexpr const char* name = "gelu_forward";
  check_compute(x, name, "x");
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(y, x.dtype, x.shape, name, "y");
  for_chunks(threads_, x.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    simd_.elements->gelu[type_index(x.dtype)](element_at(x, first), element_at(y, first), last - first);
  });
}

void CpuBackend::gelu_backward(TensorView dy, TensorView x, TensorView dx) {
  constexpr const char* name = "gelu_backward";
  check_compute(x, name, "x");
  check_tensor(x, x.dtype, x.shape, name, "x");
  check_tensor(dy, x.dtype, x.shape, name, "dy");
  check_tensor(dx, x.dtype, x.shape, name, "dx");
  for_chunks(threads_, x.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    simd_.elements->gelu_backward[type_index(x.dtype)](element_at(dy, first), element_at(x, first),
                                                       element_at(dx, first), last - first);
  });
}

}  // namespace lorikeet
