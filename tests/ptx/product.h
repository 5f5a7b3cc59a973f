// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublasLt.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/ptx/runtime.h"

// A product as cublasLt describes it, for cublas_lt.cpp.
namespace lorikeet::ptx {

struct MatrixLayout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0, columns = 0;
  std::int64_t leading = 0, batch_stride = 0;
  std::int32_t batches = 1, order = CUBLASLT_ORDER_COL;

  std::size_t lines() const { return order == CUBLASLT_ORDER_COL ? columns : rows; }
  std::size_t line_length() const { return order == CUBLASLT_ORDER_COL ? rows : columns; }
  std::size_t element_bytes() const { return type == CUDA_R_32F ? 4 : 2; }
  std::size_t at(std::size_t row, std::size_t column) const {
    const auto ld = static_cast<std::size_t>(leading);
    return order == CUBLASLT_ORDER_COL ? column * ld + row : row * ld + column;
  }
  /// Bytes from the first to behind the last element of one matrix.
  std::size_t extent() const {
    return ((lines() - 1) * static_cast<std::size_t>(leading) + line_length()) * element_bytes();
  }
};

struct MatmulDescription {
  cublasComputeType_t compute = CUBLAS_COMPUTE_32F;
  cudaDataType scale_type = CUDA_R_32F;
  std::int32_t transpose_a = CUBLAS_OP_N, transpose_b = CUBLAS_OP_N;
  std::int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};

/// One product, its operands by name.
struct Product {
  MatmulDescription how;
  MatrixLayout a, b, c, d;
  const void *a_data = nullptr, *b_data = nullptr, *c_data = nullptr;
  void* d_data = nullptr;
  float alpha = 1, beta = 0;
};

/// NOT_SUPPORTED for what a card or this emulation cannot do, INVALID_VALUE for shapes that do not fit; `why`
/// says it.
cublasStatus_t check_shapes(const Product& p, int architecture, std::string& why);
/// Empty when every operand lies in one allocation and is aligned to its elements.
std::string check_places(Runtime& r, const Product& p);
/// D = alpha op(A) op(B) + beta C with sums in double, in order, rounded once to f32 and once to D's type.
/// Throws std::runtime_error for operands that are not there, never written, or overlap D.
void run_product(Runtime& r, const Product& p);

}  // namespace lorikeet::ptx
