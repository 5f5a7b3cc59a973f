// SPDX-License-Identifier: Apache-2.0
// Moving and adding rows: gather to[i] = from[rows[i]], scatter to[rows[i]] = from[i] over zeros, to += from.
#include <cstring>

#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/parallel.h"

namespace lorikeet {

void CpuBackend::gather_rows(TensorView from, TensorView rows, TensorView to) {
  constexpr const char* name = "gather_rows";
  check(from.shape.rank() == 2 && rows.shape.rank() == 1, name, "from is (T,H), rows [R]");
  check_tensor(to, from.dtype, {rows.shape[0], from.shape[1]}, name, "to");
  check_tensor(rows, DType::i32, {rows.shape[0]}, name, "rows");
  check_indices(rows, from.shape[0], name, "row");
  const auto bytes = static_cast<std::size_t>(from.shape[1]) * size_of(from.dtype);
  const std::int32_t* index = rows.as<std::int32_t>();
  for_chunks(threads_, rows.shape[0], row_chunk(from.shape[1]), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::memcpy(to.as<char>() + static_cast<std::size_t>(i) * bytes,
                  from.as<char>() + static_cast<std::size_t>(index[i]) * bytes, bytes);
    }
  });
}

void CpuBackend::scatter_rows(TensorView from, TensorView rows, TensorView to) {
  constexpr const char* name = "scatter_rows";
  check(from.shape.rank() == 2 && rows.shape.rank() == 1 && to.shape.rank() == 2, name,
        "from is (R,H), rows [R], to (T,H)");
  check_tensor(from, to.dtype, {rows.shape[0], to.shape[1]}, name, "from");
  check_tensor(rows, DType::i32, {rows.shape[0]}, name, "rows");
  check_indices(rows, to.shape[0], name, "row");
  fill_zero(to);
  const auto bytes = static_cast<std::size_t>(to.shape[1]) * size_of(to.dtype);
  const std::int32_t* index = rows.as<std::int32_t>();
  for_chunks(threads_, rows.shape[0], row_chunk(to.shape[1]), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::memcpy(to.as<char>() + static_cast<std::size_t>(index[i]) * bytes,
                  from.as<char>() + static_cast<std::size_t>(i) * bytes, bytes);
    }
  });
}

void CpuBackend::add(TensorView to, TensorView from) {
  check_compute(to, "add", "to");
  check_tensor(to, to.dtype, to.shape, "add", "to");
  check_tensor(from, to.dtype, to.shape, "add", "from");
  for_chunks(threads_, to.elements(), 1 << 15, [&](std::int64_t first, std::int64_t last) {
    simd_.elements->add[type_index(to.dtype)](element_at(to, first), element_at(from, first), last - first);
  });
}

}  // namespace lorikeet
