// SPDX-License-Identifier: Apache-2.0
// Who makes a product: cuBLASLt where it was found and has an algorithm, else kernels of our own.
#include "kernels/cuda/gemm.h"

#include "kernels/checks.h"
#include "kernels/cuda/gemm_own.h"
#include "kernels/cuda/linear_state.h"

namespace lorikeet::cuda {
namespace {

void check_product(const Product& product) {
  constexpr const char* name = "multiply";
  const TensorView &a = product.a, &d = product.d;
  const DType type = a.dtype;
  check(type == DType::f32 || type == DType::bf16 || type == DType::f16, name, "a is of no compute type");
  check(d.dtype == type || d.dtype == DType::f32, name, "d is neither of a's type nor f32");
  check(a.shape.rank() == 2 && d.shape.rank() == 2 && a.columns() > 0, name, "an operand is not a matrix");
  const std::int64_t rows = a.rows(), depth = a.columns(), columns = d.columns();
  check_rows(a, type, {rows, depth}, name, "a");
  check_rows(product.b, type, product.b_transposed ? Shape{depth, columns} : Shape{columns, depth}, name,
             "b");
  check_rows(d, d.dtype, {rows, columns}, name, "d");
  if (product.c) check_rows(product.c, d.dtype, d.shape, name, "c");
  constexpr std::int64_t most = std::int64_t{1} << 30;
  check(rows < 65535 * 64 && columns < most && depth < most, name, "an operand is too large");
}

}  // namespace

CudaBackend::LinearState& CudaBackend::linear() {
  if (!linear_) {
    (void)stream();  // makes this device the current one, to which the library's handle will belong
    linear_ = std::make_shared<LinearState>();
  }
  return *linear_;
}

std::string CudaBackend::products() {
  const CublasLt* library = linear().cublas_lt.get();
  return library ? "cuBLASLt " + library->version() : "own products";
}

void multiply(CudaBackend& backend, const Product& product) {
  check_product(product);
  if (product.d.elements() == 0) return;
  CublasLt* library = backend.linear().cublas_lt.get();
  if (library && library->multiply(backend, product)) return;
  if (product.a.dtype == DType::f32) return multiply_in_f32(backend, product);
  multiply_by_tensor_cores(backend, product);
}

}  // namespace lorikeet::cuda
