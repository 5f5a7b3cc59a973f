// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/backend.h"

namespace lorikeet::cuda {

class CudaBackend;

/// Linear layers that read the same input, for many rows, with every product through the rank folded into the
/// big one ("augmented K"); operands are checked before. At least one row and one part.
void group_forward(CudaBackend& backend, TensorView x, std::span<const LinearPart> parts,
                   TensorView residual);
void group_backward(CudaBackend& backend, std::span<const LinearBackwardPart> parts, TensorView x,
                    TensorView dx, Write write);

// What both directions share.

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}
/// Rows of scratch matrices start at multiples of this many elements: whole sectors of 32 bytes.
constexpr std::int64_t row_multiple = 16;

/// In f16 the B of a branch enters its products multiplied by this power of two, since small numbers are
/// rounded coarsely there; what it is multiplied with is divided by it.
constexpr float factor_scale(DType compute) {
  return compute == DType::f16 ? 64.0f : 1.0f;
}

/// Whether the product may read the stored values as they are.
bool is_stored_in(const Weight& weight, DType compute);
/// Whether the second matrix lies directly right of the first one.
bool follows(const TensorView& second, const TensorView& first);

/// Views into one piece of scratch memory, in order.
class ScratchViews {
 public:
  /// Counts a matrix whose rows are padded to row_multiple; place() gives it its memory.
  TensorView add(std::int64_t rows, std::int64_t columns, DType dtype) {
    const std::int64_t stride = round_up(columns, row_multiple);
    const TensorView view{reinterpret_cast<void*>(bytes_), dtype, {rows, columns}, stride};
    bytes_ += round_up(rows * stride * static_cast<std::int64_t>(size_of(dtype)), 256);
    return view;
  }
  std::int64_t bytes() const { return bytes_; }
  static TensorView placed(TensorView view, void* memory) {
    view.data = static_cast<char*>(memory) + reinterpret_cast<std::intptr_t>(view.data);
    return view;
  }

 private:
  std::int64_t bytes_ = 0;
};

}  // namespace lorikeet::cuda
