// SPDX-License-Identifier: Apache-2.0
// x[t,c] += magnitude[t] * (2 u - 1), u the upper 24 bits of the word drawn for (key of t, neftune, c), as a
// number in [0,1). Contract: backend.h; x (T,H) of a compute type, rows may have gaps; rows of magnitude 0
// keep their bits. Product and sum are rounded apart in f32, then the sum to x's type, so every device gives
// the same bits. Bytes: x read and written, 12 bytes a row beside. Source: NEFTune (Jain et al. 2023);
// random.cuh.
#include "kernels/base/random.h"
#include "kernels/cuda/elements.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/random.cuh"

namespace lorikeet::cuda {
namespace {

template <typename T, int N>
__global__ void __launch_bounds__(256) add_noise_kernel(std::int64_t rows, std::int64_t width, Rows<T> x,
                                                        const uint2* keys, const float* magnitude) {
  for_units<N>(rows, width, [&](auto at) {
    const float size = magnitude[at.row];
    if (size == 0) return;
    float v[at.count];
    at.load(x, v);
    constexpr auto use = static_cast<std::uint32_t>(RandomUse::neftune);
    for_words<at.count>(keys[at.row], use, 0, at.column, [&](int i, std::uint32_t word) {
      const float centred = static_cast<float>(word >> 8) * 0x1p-23f - 1.0f;
      v[i] = __fadd_rn(v[i], __fmul_rn(size, centred));
    });
    at.store(x, v);
  });
}

}  // namespace

void CudaBackend::add_noise(TensorView x, TensorView keys, TensorView magnitude) {
  constexpr const char* name = "add_noise";
  check_compute(*this, x, name, "x is of no compute type");
  check(x.shape.rank() == 2, name, "x is (T,H)");
  const std::int64_t rows = x.rows(), width = x.columns();
  check_rows(x, x.dtype, {rows, width}, name, "x");
  check_tensor(keys, DType::i32, {rows, 2}, name, "keys");
  check_tensor(magnitude, DType::f32, {rows}, name, "magnitude");
  const Extent e{rows, width, is_aligned({x})};
  with_compute_type(x.dtype, [&](auto type) {
    using T = typename decltype(type)::type;
    constexpr int lanes = lanes_of<T>;
    launch(stream(), name, e.vector ? add_noise_kernel<T, lanes> : add_noise_kernel<T, 1>,
           e.grid(e.vector ? lanes : 1), Extent::threads, 0, e.rows, e.width, rows_of<T>(x),
           static_cast<const uint2*>(keys.data), magnitude.as<float>());
  });
}

}  // namespace lorikeet::cuda
