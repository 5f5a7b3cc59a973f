// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/base/dtype.h"

namespace lorikeet::cuda {

class CudaBackend;
struct SmallOperands;

// The steps of SmallProduct, each one launch. All parts are of one kind of format; the operands are placed.

/// xa = x A^T of every branch, rounded to the compute type.
void small_shrink(CudaBackend& backend, DType compute, SmallOperands& operands, bool vectors);
/// y for at most 3 rows; `vectors`: x may be read 16 bytes at a time and rows of the weights begin at whole
/// steps.
void gemv(CudaBackend& backend, DType compute, SmallOperands& operands, bool vectors);
/// y for up to 64 rows a block by tensor cores, 4-bit and int8 weights, K a multiple of 64.
void small_gemm(CudaBackend& backend, DType compute, SmallOperands& operands);

/// Elements of K that a lane of gemv() reads at once: rows must be a multiple of it.
constexpr std::int64_t gemv_four_bit_step = 32, gemv_int8_step = 16, gemv_dense_step = 8;

}  // namespace lorikeet::cuda
