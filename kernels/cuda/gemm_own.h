// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/cuda/gemm.h"

namespace lorikeet::cuda {

/// The product by kernels of our own: tensor cores for bf16 and f16 operands, f32 arithmetic for f32.
void multiply_by_tensor_cores(CudaBackend& backend, const Product& product);
void multiply_in_f32(CudaBackend& backend, const Product& product);

}  // namespace lorikeet::cuda
