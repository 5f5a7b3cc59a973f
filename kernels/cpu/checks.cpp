// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/checks.h"

#include <string>

#include "kernels/base/error.h"

namespace lorikeet {

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
