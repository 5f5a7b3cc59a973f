// SPDX-License-Identifier: Apache-2.0
// RoPE (Su et al. 2021), half-split form: with d rotary dimensions, the pair (x[i], x[i + d/2]) is turned by
// the angle whose cosine and sine are row positions[t] of the tables; the inverse turns back.
#include <cstring>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::rope(TensorView x, TensorView positions, TensorView cosine, TensorView sine, bool inverse) {
  constexpr const char* name = "rope";
  check(x.shape.rank() == 3, name, "x is (T,heads,head_dim)");
  check(cosine.shape.rank() == 2, name, "cosine is (P,d/2)");
  check_compute(x, name, "x");
  const std::int64_t heads = x.shape[1];
  const std::int64_t width = x.shape[2];
  const std::int64_t half = cosine.shape[1];
  check(2 * half <= width, name, "more rotary dimensions than head_dim");
  check_tensor(cosine, DType::f32, cosine.shape, name, "cosine");
  check_tensor(sine, DType::f32, cosine.shape, name, "sine");
  check_tensor(positions, DType::i32, {x.shape[0]}, name, "positions");
  check_indices(positions, cosine.shape[0], name, "position");
  for_chunks(threads_, x.shape[0], row_chunk(heads * width), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      const std::int64_t row = positions.as<std::int32_t>()[t] * half;
      simd_.elements->rope[type_index(x.dtype)](element_at(x, t * heads * width), cosine.as<float>() + row,
                                                sine.as<float>() + row, heads, width, half,
                                                inverse ? -1.0f : 1.0f);
    }
  });
}

void CpuBackend::rope_append(TensorView q, TensorView k, TensorView v, TensorView positions,
                             TensorView cosine, TensorView sine, TensorView k_cache, TensorView v_cache) {
  constexpr const char* name = "rope_append";
  check(k.shape.rank() == 3 && k_cache.shape.rank() == 2, name,
        "k is (M,kv_heads,head_dim), the cache (C,kv)");
  const std::int64_t rows = k.shape[0];
  const std::int64_t width = k.columns();
  check_tensor(v, k.dtype, {rows, width}, name, "v");
  check_tensor(k_cache, k.dtype, {k_cache.shape[0], width}, name, "k_cache");
  check_tensor(v_cache, k.dtype, k_cache.shape, name, "v_cache");
  check_tensor(positions, DType::i32, {rows}, name, "positions");
  check_indices(positions, k_cache.shape[0], name, "position");
  rope(q, positions, cosine, sine, false);
  rope(k, positions, cosine, sine, false);
  const std::size_t bytes = static_cast<std::size_t>(width) * size_of(k.dtype);
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t to = positions.as<std::int32_t>()[i] * width;
    std::memcpy(element_at(k_cache, to), element_at(k, i * width), bytes);
    std::memcpy(element_at(v_cache, to), element_at(v, i * width), bytes);
  }
}

}  // namespace lorikeet
