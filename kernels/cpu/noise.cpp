// SPDX-License-Identifier: Apache-2.0
// x[t,c] += magnitude[t] * (2 u - 1), u the upper 24 bits of the word drawn for (key of t, neftune, c), as a
// number in [0,1). Product and sum are rounded apart (this file is compiled without fused operations), then
// the sum to x's type. Source: NEFTune (Jain et al. 2023); generator: kernels/base/random.h.
#include "kernels/base/random.h"
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

template <typename T>
void add_to_row(T* x, std::uint64_t key, float magnitude, std::int64_t columns) {
  for (std::int64_t first = 0; first < columns; first += 4) {
    const auto words = philox(key, static_cast<std::uint64_t>(first) / 4,
                              static_cast<std::uint64_t>(RandomUse::neftune) << 32);
    const std::int64_t count = std::min<std::int64_t>(4, columns - first);
    for (std::int64_t i = 0; i < count; ++i) {
      const float noise = magnitude * centred_uniform(words[static_cast<std::size_t>(i)]);
      store(x[first + i], load(x[first + i]) + noise);
    }
  }
}

}  // namespace

void CpuBackend::add_noise(TensorView x, TensorView keys, TensorView magnitude) {
  constexpr const char* name = "add_noise";
  check_compute(x, name, "x");
  check(x.shape.rank() == 2, name, "x is (T,H)");
  const std::int64_t rows = x.rows(), columns = x.columns();
  check_tensor(x, x.dtype, {rows, columns}, name, "x");
  check_tensor(keys, DType::i32, {rows, 2}, name, "keys");
  check_tensor(magnitude, DType::f32, {rows}, name, "magnitude");
  const auto* key = keys.as<std::uint32_t>();
  const auto* size = magnitude.as<float>();
  for_chunks(threads_, rows, row_chunk(columns), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      if (size[t] == 0) continue;
      const std::uint64_t own = static_cast<std::uint64_t>(key[2 * t + 1]) << 32 | key[2 * t];
      if (x.dtype == DType::f32)
        add_to_row(x.as<float>() + t * columns, own, size[t], columns);
      else
        add_to_row(x.as<Bf16>() + t * columns, own, size[t], columns);
    }
  });
}

}  // namespace lorikeet
