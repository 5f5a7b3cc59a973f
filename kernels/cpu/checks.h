// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/checks.h"

namespace lorikeet {

/// Throws unless the element type is a compute type of this back end (f32 or bf16).
void check_compute(const TensorView& view, const char* operation, const char* what);

/// Index of a compute type in the tables of inner loops (simd/table.h).
inline int type_index(DType dtype) {
  return dtype == DType::bf16 ? 1 : 0;
}

/// Address of element `index` of a view.
inline void* element_at(const TensorView& view, std::int64_t index) {
  return view.as<char>() + index * static_cast<std::int64_t>(size_of(view.dtype));
}

/// Throws unless every one of the i32 values lies in [0, bound); so a wrong id cannot read outside a table.
void check_indices(const TensorView& indices, std::int64_t bound, const char* operation, const char* what);

}  // namespace lorikeet
