// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/operands.h"
#include "kernels/weight.h"

namespace lorikeet {

/// Throws Error(invalid_argument) unless the weight's tensors have the types and shapes of its format
/// (weight.h).
void check_stored_weight(const Weight& weight, const char* operation);

/// Throws unless the operands of Backend::row_norms fit the weight.
void check_row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms, TensorView magnitude,
                     TensorView gain, const char* operation);

}  // namespace lorikeet
