// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operands.h"
#include "kernels/tensor.h"

// Checks of operands that every back end makes before it starts.
namespace lorikeet {

/// Throws Error(invalid_argument) "operation: what" unless `condition` holds.
void check(bool condition, const char* operation, const char* what);

/// Throws unless `view` has data, this element type and this shape, without gaps between its rows; `what`
/// names the operand.
void check_tensor(const TensorView& view, DType dtype, const Shape& shape, const char* operation,
                  const char* what);

/// The same, but the rows may be columns of a wider buffer.
void check_rows(const TensorView& view, DType dtype, const Shape& shape, const char* operation,
                const char* what);

/// Throws unless p lies in [0,1) and, where it is not 0, there is a key for each of `rows` rows.
void check_dropout(const LoraDropout& dropout, std::int64_t rows, const char* operation);

}  // namespace lorikeet
