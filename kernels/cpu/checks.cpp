// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/checks.h"

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

}  // namespace

void check(bool condition, const char* operation, const char* what) {
  if (!condition) throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what);
}

void check_tensor(const TensorView& view, DType dtype, const Shape& shape, const char* operation,
                  const char* what) {
  if (view.data == nullptr && shape.elements() != 0) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " is missing");
  }
  if (!view.contiguous()) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " has gaps between its rows");
  }
  if (view.dtype != dtype || view.shape != shape) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " is " +
                                                 describe(view.dtype, view.shape) + " where " +
                                                 describe(dtype, shape) + " is needed");
  }
}

void check_compute(const TensorView& view, const char* operation, const char* what) {
  if (view.dtype != DType::f32 && view.dtype != DType::bf16) {
    throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " is " +
                                                 to_string(view.dtype) + " where f32 or bf16 is needed");
  }
}

void check_indices(const TensorView& indices, std::int64_t bound, const char* operation, const char* what) {
  const std::int32_t* values = indices.as<std::int32_t>();
  const std::int64_t count = indices.elements();
  for (std::int64_t i = 0; i < count; ++i) {
    if (values[i] < 0 || values[i] >= bound) {
      throw Error(ErrorCode::invalid_argument, std::string(operation) + ": " + what + " " +
                                                   std::to_string(values[i]) + " is outside [0, " +
                                                   std::to_string(bound) + ")");
    }
  }
}

}  // namespace lorikeet
