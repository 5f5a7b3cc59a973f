// SPDX-License-Identifier: Apache-2.0
// SwiGLU (Shazeer 2020): h = silu(gate) * up, silu(x) = x * s, s = 1 / (1 + exp(-x)).
// Backward: dgate = dh * up * s * (1 + gate * (1 - s)), dup = dh * silu(gate). All in f32 between loads and
// stores.
#include <cmath>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

float sigmoid(float x) {
  return 1 / (1 + std::exp(-x));
}

template <typename T>
void forward_range(const T* gate, const T* up, T* h, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i)
    store(h[i], load(gate[i]) * sigmoid(load(gate[i])) * load(up[i]));
}

template <typename T>
void backward_range(const T* dh, const T* gate, const T* up, T* dgate, T* dup, T* h, std::int64_t first,
                    std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    const float g = load(gate[i]);
    const float u = load(up[i]);
    const float d = load(dh[i]);
    const float s = sigmoid(g);
    store(dgate[i], d * u * s * (1 + g * (1 - s)));
    store(dup[i], d * g * s);
    if (h != nullptr) store(h[i], g * s * u);
  }
}

}  // namespace

void CpuBackend::swiglu_forward(TensorView gate, TensorView up, TensorView h) {
  constexpr const char* name = "swiglu_forward";
  check_compute(gate, name, "gate");
  check_tensor(gate, gate.dtype, gate.shape, name, "gate");
  check_tensor(up, gate.dtype, gate.shape, name, "up");
  check_tensor(h, gate.dtype, gate.shape, name, "h");
  for_chunks(threads_, gate.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    if (gate.dtype == DType::f32)
      forward_range(gate.as<float>(), up.as<float>(), h.as<float>(), first, last);
    else
      forward_range(gate.as<Bf16>(), up.as<Bf16>(), h.as<Bf16>(), first, last);
  });
}

void CpuBackend::swiglu_backward(TensorView dh, TensorView gate, TensorView up, TensorView dgate,
                                 TensorView dup, TensorView h) {
  constexpr const char* name = "swiglu_backward";
  check_compute(gate, name, "gate");
  check_tensor(gate, gate.dtype, gate.shape, name, "gate");
  check_tensor(dh, gate.dtype, gate.shape, name, "dh");
  check_tensor(up, gate.dtype, gate.shape, name, "up");
  check_tensor(dgate, gate.dtype, gate.shape, name, "dgate");
  check_tensor(dup, gate.dtype, gate.shape, name, "dup");
  if (h) check_tensor(h, gate.dtype, gate.shape, name, "h");
  for_chunks(threads_, gate.elements(), 1 << 14, [&](std::int64_t first, std::int64_t last) {
    if (gate.dtype == DType::f32) {
      backward_range(dh.as<float>(), gate.as<float>(), up.as<float>(), dgate.as<float>(), dup.as<float>(),
                     h.as<float>(), first, last);
    } else {
      backward_range(dh.as<Bf16>(), gate.as<Bf16>(), up.as<Bf16>(), dgate.as<Bf16>(), dup.as<Bf16>(),
                     h.as<Bf16>(), first, last);
    }
  });
}

}  // namespace lorikeet
