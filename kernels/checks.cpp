// SPDX-License-Identifier: Apache-2.0
#include "kernels/checks.h"

#include <string>

#include "kernels/base/error.h"

namespace lorikeet {

namespace {

std::string describe(DType dtype, const Shape& shape) {
  std::string text = std::string(to_string(dtype)) + " (";
  for (int axis = 0; axis < shape.rank(); ++axis) {
    if (axis > 0) text += ",";
    text += std::to_string(shape[axis]);
  }
  return text + ")";
}

[[noreturn]] void refuse(const char* operation, const char* what, const std::string& why) {
  throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " " + why);
}

}  // namespace

void check(bool condition, const char* operation, const char* what) {
  if (!condition) throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what);
}

void check_tensor(const TensorView& view, DType dtype, const Shape& shape, const char* operation,
                  const char* what) {
  check_rows(view, dtype, shape, operation, what);
  if (!view.contiguous()) refuse(operation, what, "has gaps between its rows");
}

void check_rows(const TensorView& view, DType dtype, const Shape& shape, const char* operation,
                const char* what) {
  if (view.data == nullptr && shape.elements() != 0) refuse(operation, what, "is missing");
  if (view.dtype != dtype || view.shape != shape) {
    refuse(operation, what,
           "is " + describe(view.dtype, view.shape) + " where " + describe(dtype, shape) + " is needed");
  }
  if (view.row_stride != 0 && view.row_stride < view.columns())
    refuse(operation, what, "has overlapping rows");
}

void check_dropout(const LoraDropout& dropout, std::int64_t rows, const char* operation) {
  if (dropout.probability == 0) return;
  check(dropout.probability > 0 && dropout.probability < 1, operation, "dropout is not a share below 1");
  check_tensor(dropout.keys, DType::i32, {rows, 2}, operation, "keys of dropout");
}

}  // namespace lorikeet
