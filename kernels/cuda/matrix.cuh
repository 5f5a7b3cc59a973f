// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/tensor.h"

namespace lorikeet::cuda {

/// A matrix operand in global memory; passed by value.
template <typename T>
struct Matrix {
  const T* data = nullptr;
  std::int64_t stride = 0;
  int rows = 0, columns = 0;
  bool vectors = false;  ///< every row starts at a multiple of 16 bytes

  Matrix() = default;
  explicit Matrix(const TensorView& view)
      : data(view.as<const T>()),
        stride(view.stride()),
        rows(static_cast<int>(view.rows())),
        columns(static_cast<int>(view.columns())),
        vectors(reinterpret_cast<std::uintptr_t>(view.data) % 16 == 0 &&
                static_cast<std::size_t>(view.stride()) * sizeof(T) % 16 == 0) {}
};

}  // namespace lorikeet::cuda
