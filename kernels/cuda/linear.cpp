// SPDX-License-Identifier: Apache-2.0
// The checked entries of linear layers; the arithmetic is in linear_forward.cpp and linear_backward.cpp, for
// few rows in small_product.
#include "kernels/base/device_layout.h"
#include "kernels/checks.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/linear_group.h"
#include "kernels/cuda/small_product.h"
#include "kernels/weight_checks.h"

namespace lorikeet::cuda {
namespace {

void check_matrix(const CudaBackend& backend, const TensorView& view, const char* name, const char* what) {
  check(view.dtype == DType::f32 || view.dtype == DType::f16 || view.dtype == DType::bf16, name, what);
  check(backend.supports(view.dtype), name, "this device does not compute in this type");
  check(view.shape.rank() == 2, name, "an operand is not a matrix");
}

void check_branch(const LoraTerm& term, const Weight& weight, std::int64_t rows, DType compute,
                  const char* name) {
  check(term.a.shape.rank() == 2 && term.a.rows() > 0, name, "A is not a matrix with rows");
  const std::int64_t rank = term.a.rows();
  check_tensor(term.a, DType::f32, {rank, weight.in}, name, "A");
  check_tensor(term.b, DType::f32, {weight.out, rank}, name, "B");
  check_rows(term.xa, compute, {rows, rank}, name, "xa");
  check_dropout(term.dropout, rows, name);
}

void check_backward_part(const LinearBackwardPart& part, const TensorView& x, std::int64_t rows,
                         DType compute, std::int64_t in, const char* name) {
  check(part.weight != nullptr, name, "a part has no weight");
  check_stored_weight(*part.weight, name);
  check(part.weight->in == in, name, "the parts read different inputs");
  check_rows(part.dy, compute, {rows, part.weight->out}, name, "dy");
  if (part.lora == nullptr) return;
  check(part.gradient != nullptr, name, "a branch without gradients");
  check_branch(*part.lora, *part.weight, rows, compute, name);
  check_rows(x, compute, {rows, in}, name, "x");
  check_tensor(part.gradient->a, DType::f32, part.lora->a.shape, name, "gradient of A");
  check_tensor(part.gradient->b, DType::f32, part.lora->b.shape, name, "gradient of B");
}

}  // namespace

bool is_stored_in(const Weight& weight, DType compute) {
  return (weight.format == WeightFormat::f32 && compute == DType::f32) ||
         (weight.format == WeightFormat::bf16 && compute == DType::bf16) ||
         (weight.format == WeightFormat::f16 && compute == DType::f16);
}

bool follows(const TensorView& second, const TensorView& first) {
  const std::int64_t bytes = first.columns() * static_cast<std::int64_t>(size_of(first.dtype));
  return second.data == static_cast<const char*>(first.data) + bytes &&
         (first.rows() == 1 || second.stride() == first.stride());
}

std::int64_t CudaBackend::tail_columns(std::int64_t width, std::int64_t ranks) const {
  return cuda_tail_columns(width, ranks);
}

void CudaBackend::linear_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora,
                                 TensorView y, Write write) {
  const LinearPart part{&weight, lora, y};
  linear_group_forward(x, {&part, 1}, write == Write::accumulate ? y : TensorView{});
}

void CudaBackend::linear_backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                                  const LoraGradient* gradient, TensorView dx, Write write) {
  const LinearBackwardPart part{dy, &weight, lora, gradient};
  linear_group_backward({&part, 1}, x, dx, write);
}

void CudaBackend::linear_group_forward(TensorView x, std::span<const LinearPart> parts, TensorView residual) {
  constexpr const char* name = "linear_forward";
  check_matrix(*this, x, name, "x is of no compute type");
  check(!residual || parts.size() == 1, name, "a residual belongs to one part");
  const std::int64_t rows = x.rows();
  for (const LinearPart& part : parts) {
    check(part.weight != nullptr, name, "a part has no weight");
    check_stored_weight(*part.weight, name);
    check_rows(x, x.dtype, {rows, part.weight->in}, name, "x");
    check_rows(part.y, x.dtype, {rows, part.weight->out}, name, "y");
    if (residual) check_rows(residual, x.dtype, part.y.shape, name, "residual");
    for (const LoraTerm& term : part.lora) check_branch(term, *part.weight, rows, x.dtype, name);
  }
  if (rows == 0 || parts.empty()) return;
  if (SmallProduct::serves(*this, x, parts)) return SmallProduct::forward(*this, x, parts, residual);
  group_forward(*this, x, parts, residual);
}

void CudaBackend::linear_group_backward(std::span<const LinearBackwardPart> parts, TensorView x,
                                        TensorView dx, Write write) {
  constexpr const char* name = "linear_backward";
  if (parts.empty()) return;
  const TensorView& first = parts.front().dy;
  check_matrix(*this, first, name, "dy is of no compute type");
  check(parts.front().weight != nullptr, name, "a part has no weight");
  const std::int64_t rows = first.rows(), in = parts.front().weight->in;
  bool branches = false;
  for (const LinearBackwardPart& part : parts) {
    check_backward_part(part, x, rows, first.dtype, in, name);
    branches = branches || part.lora != nullptr;
  }
  if (dx) check_rows(dx, first.dtype, {rows, in}, name, "dx");
  if (rows > 0 && (dx || branches)) group_backward(*this, parts, x, dx, write);
}

}  // namespace lorikeet::cuda
