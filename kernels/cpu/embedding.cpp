// SPDX-License-Identifier: Apache-2.0
// Embedding: out[t] = table[ids[t]]; backward: table_grad[ids[t]] += dy[t], in order of t, f32.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/element.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

namespace {

template <typename To, typename From>
void copy_row(To* to, const From* from, std::int64_t columns) {
  for (std::int64_t i = 0; i < columns; ++i) store(to[i], load(from[i]));
}

template <typename To>
void embed_row(To* to, const TensorView& table, std::int64_t row, std::int64_t columns) {
  switch (table.dtype) {
    case DType::f32:
      return copy_row(to, table.as<float>() + row * columns, columns);
    case DType::f16:
      return copy_row(to, table.as<F16>() + row * columns, columns);
    default:
      return copy_row(to, table.as<Bf16>() + row * columns, columns);
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
      if (out.dtype == DType::f32)
        embed_row(out.as<float>() + t * width, table, id[t], width);
      else
        embed_row(out.as<Bf16>() + t * width, table, id[t], width);
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
