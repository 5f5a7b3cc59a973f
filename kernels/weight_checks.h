// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/weight.h"

namespace lorikeet {

/// Throws Error(invalid_argument) unless the weight's tensors have the types and shapes of its format
/// (weight.h).
void check_stored_weight(const Weight& weight, const char* operation);

}  // namespace lorikeet
