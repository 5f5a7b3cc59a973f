// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cpu/cpu_info.h"
#include "kernels/cpu/simd/table.h"

namespace lorikeet::simd {

/// The inner loops for an instruction set.
Kernels kernels_for(Isa isa);

}  // namespace lorikeet::simd
