// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/tensor.h"

namespace lorikeet::cuda {

class CudaBackend;

/// d (M,N) = a (M,K) b^T + c. Rows of every operand may have gaps. a and b are of one compute type; d is of
/// that type or f32. Products accumulate in f32. K may be any number; rows that are no multiple of 16 bytes
/// are slower.
struct Product {
  TensorView a;  ///< (M,K)
  TensorView b;  ///< (N,K), or (K,N) when b_transposed
  bool b_transposed = false;
  TensorView c;  ///< (M,N) of d's type, may be d itself; empty = nothing is added
  TensorView d;  ///< (M,N)
};

/// By cuBLASLt where it was found, else by tensor cores of our own; f32 operands by f32 arithmetic (never
/// TF32).
void multiply(CudaBackend& backend, const Product& product);

}  // namespace lorikeet::cuda
