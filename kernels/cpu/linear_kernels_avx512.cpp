// SPDX-License-Identifier: Apache-2.0
#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/linear_kernels.h"

namespace lorikeet {

namespace {

#include "kernels/cpu/linear_kernels.inc"
#include "kernels/cpu/linear_kernels_avx512.inc"

}  // namespace

extern const LinearKernels linear_kernels_avx512;
const LinearKernels linear_kernels_avx512 = table_of<Avx512>();

}  // namespace lorikeet
