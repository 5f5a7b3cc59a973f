// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>

#include "kernels/cpu/linear_kernels.h"

namespace lorikeet {

namespace {

#include "kernels/cpu/linear_kernels.inc"

}  // namespace

extern const LinearKernels linear_kernels_avx512_bf16;
const LinearKernels linear_kernels_avx512_bf16 = table_of<Plain>();

}  // namespace lorikeet
