// SPDX-License-Identifier: Apache-2.0
// Gated linear units (Shazeer 2020). SwiGLU: h = silu(gate) * up, silu(x) = x * s, s = 1 / (1 + exp(-x)).
// Backward: dgate = dh * up * s * (1 + gate * (1 - s)), dup = dh * silu(gate). GeGLU: gelu.cpp's function in
// silu's place. All in f32 between loads and stores.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::glu_forward(TensorView gate, TensorView up, TensorView h, Activation f) {
  constexpr const char* name = "glu_forward";
  check_compute(gate, name, "gate");
  check_tensor(gate, gate.dtype, gate.shape, name, "gate");
  check_tensor(up, gate.dtype, gate.shape, name, "up");
  check_tensor(h, gate.dtype, gate.shape, name, "h");
  const auto& kernels = f == Activation::silu ? simd_.elements->swiglu : simd_.elements->geglu;
  for_chunks(threads_, gate.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    kernels[type_index(gate.dtype)](element_at(gate, first), element_at(up, first), element_at(h, first),
                                    last - first);
  });
}

void CpuBackend::glu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate, TensorView dup,
                              TensorView h, Activation f) {
  constexpr const char* name = "glu_backward";
  check_compute(gate, name, "gate");
  check_tensor(gate, gate.dtype, gate.shape, name, "gate");
  check_tensor(dh, gate.dtype, gate.shape, name, "dh");
  check_tensor(up, gate.dtype, gate.shape, name, "up");
  check_tensor(dgate, gate.dtype, gate.shape, name, "dgate");
  check_tensor(dup, gate.dtype, gate.shape, name, "dup");
  if (h) check_tensor(h, gate.dtype, gate.shape, name, "h");
  const auto& kernels = f == Activation::silu ? simd_.elements->glu_backward : simd_.elements->geglu_backward;
  for_chunks(threads_, gate.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    kernels[type_index(gate.dtype)](element_at(dh, first), element_at(gate, first), element_at(up, first),
                                    element_at(dgate, first), element_at(dup, first),
                                    h ? element_at(h, first) : nullptr, last - first);
  });
}

}  // namespace lorikeet
