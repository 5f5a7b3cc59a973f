// SPDX-License-Identifier: Apache-2.0
// Embedding: out[t] = table[ids[t]]; backward: table_grad[ids[t]] += dy[t], in order of t, f32.
#include <cstring>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

template <typename To>
void widen_f16(To* to, const F16* from, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) store(to[i], load(from[i]));
}

/// One row, from the table's type to f32 or bf16.
void copy_row(const simd::ElementKernels& kernels, void* to, DType to_type, const void* from, DType from_type,
              std::int64_t columns) {
  if (to_type == from_type) {
    std::memcpy(to, from, static_cast<std::size_t>(columns) * size_of(to_type));
  } else if (from_type == DType::bf16) {
    kernels.widen(static_cast<const std::uint16_t*>(from), static_cast<float*>(to), columns);
  } else if (from_type == DType::f32) {
    kernels.narrow(static_cast<const float*>(from), static_cast<std::uint16_t*>(to), columns);
  } else if (to_type == DType::f32) {
    widen_f16(static_cast<float*>(to), static_cast<const F16*>(from), columns);
  } else {
    widen_f16(static_cast<Bf16*>(to), static_cast<const F16*>(from), columns);
  }
}

template <typename From>
void add_columns(float* table, const From* dy, const std::int32_t* ids, std::int64_t rows, std::int64_t width,
                 std::int64_t first, std::int64_t last) {
  for (std::int64_t t = 0; t < rows; ++t) {
    float* to = table + ids[t] * width;
    for (std::int64_t i = first; i < last; ++i) to[i] += load(dy[t * width + i]);
  }
}

}  // namespace

void CpuBackend::embedding_forward(TensorView table, TensorView ids, TensorView out) {
  constexpr const char* name = "embedding_forward";
  check(table.shape.rank() == 2 && ids.shape.rank() == 1, name, "table is (V,H), ids [T]");
  check(table.dtype == DType::f32 || table.dtype == DType::bf16 || table.dtype == DType::f16, name,
        "table is f32, bf16 or f16");
  const std::int64_t width = table.shape[1];
  check_compute(out, name, "out");
  check_tensor(out, out.dtype, {ids.shape[0], width}, name, "out");
  check_tensor(ids, DType::i32, {ids.shape[0]}, name, "ids");
  check_indices(ids, table.shape[0], name, "id");
  const std::int32_t* id = ids.as<std::int32_t>();
  for_chunks(threads_, ids.shape[0], row_chunk(width), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t t = first; t < last; ++t) {
      copy_row(*simd_.elements, element_at(out, t * width), out.dtype, element_at(table, id[t] * width),
               table.dtype, width);
    }
  });
}

void CpuBackend::embedding_backward(TensorView dy, TensorView ids, TensorView table_grad) {
  constexpr const char* name = "embedding_backward";
  check(table_grad.shape.rank() == 2 && ids.shape.rank() == 1, name, "table_grad is (V,H), ids [T]");
  const std::int64_t width = table_grad.shape[1];
  check_compute(dy, name, "dy");
  check_tensor(dy, dy.dtype, {ids.shape[0], width}, name, "dy");
  check_tensor(table_grad, DType::f32, table_grad.shape, name, "table_grad");
  check_tensor(ids, DType::i32, {ids.shape[0]}, name, "ids");
  check_indices(ids, table_grad.shape[0], name, "id");
  const std::int32_t* id = ids.as<std::int32_t>();
  // Rows may repeat, so the team shares out columns: each sum runs in order of t.
  for_chunks(threads_, width, 64, [&](std::int64_t first, std::int64_t last) {
    if (dy.dtype == DType::f32)
      add_columns(table_grad.as<float>(), dy.as<float>(), id, ids.shape[0], width, first, last);
    else
      add_columns(table_grad.as<float>(), dy.as<Bf16>(), id, ids.shape[0], width, first, last);
  });
}

}  // namespace lorikeet
