// SPDX-License-Identifier: Apache-2.0
// The checked entries of linear layers and of the head; the arithmetic is LinearEngine's.
#include "kernels/cpu/checks.h"
#include "kernels/cpu/cpu_backend.h"
#include "kernels/cpu/linear_engine.h"
#include "kernels/weight_checks.h"

namespace lorikeet {

namespace {

void check_branch(const LoraTerm& term, const Weight& weight, std::int64_t rows, DType compute,
                  const char* name) {
  check(term.a.shape.rank() == 2 && term.a.rows() > 0, name, "A is not a matrix with rows");
  const std::int64_t rank = term.a.rows();
  check_tensor(term.a, DType::f32, {rank, weight.in}, name, "A");
  check_tensor(term.b, DType::f32, {weight.out, rank}, name, "B");
  check_tensor(term.xa, compute, {rows, rank}, name, "xa");
  check_dropout(term.dropout, rows, name);
}

void check_matrix(const TensorView& view, const char* name, const char* what) {
  check_compute(view, name, what);
  check(view.shape.rank() == 2, name, "an operand is not a matrix");
}

}  // namespace

CpuBackend::LinearState& CpuBackend::linear() {
  if (!linear_) linear_ = std::make_shared<LinearState>(*this, isa_, threads_);
  return *linear_;
}

void CpuBackend::linear_forward(TensorView x, const Weight& weight, std::span<const LoraTerm> lora,
                                TensorView y, Write write) {
  constexpr const char* name = "linear_forward";
  check_matrix(x, name, "x");
  check_stored_weight(weight, name);
  const std::int64_t rows = x.rows();
  check_tensor(x, x.dtype, {rows, weight.in}, name, "x");
  check_tensor(y, x.dtype, {rows, weight.out}, name, "y");
  for (const LoraTerm& term : lora) check_branch(term, weight, rows, x.dtype, name);
  if (rows > 0) linear().engine.forward(x, weight, lora, y, write);
}

void CpuBackend::linear_backward(TensorView dy, TensorView x, const Weight& weight, const LoraTerm* lora,
                                 const LoraGradient* gradient, TensorView dx, Write write) {
  constexpr const char* name = "linear_backward";
  check_matrix(dy, name, "dy");
  check_stored_weight(weight, name);
  const std::int64_t rows = dy.rows();
  check_tensor(dy, dy.dtype, {rows, weight.out}, name, "dy");
  if (lora != nullptr) {
    check(gradient != nullptr, name, "a branch without gradients");
    check_branch(*lora, weight, rows, dy.dtype, name);
    check_tensor(x, dy.dtype, {rows, weight.in}, name, "x");
    check_tensor(gradient->a, DType::f32, lora->a.shape, name, "gradient of A");
    check_tensor(gradient->b, DType::f32, lora->b.shape, name, "gradient of B");
  }
  if (dx) check_tensor(dx, dy.dtype, {rows, weight.in}, name, "dx");
  if (rows > 0 && (dx || lora != nullptr)) linear().engine.backward(dy, x, weight, lora, gradient, dx, write);
}

void CpuBackend::head_cross_entropy(TensorView h, const Weight& head, TensorView targets, float grad_scale,
                                    TensorView sums, TensorView dh, float soft_cap) {
  constexpr const char* name = "head_cross_entropy";
  check_matrix(h, name, "h");
  check_stored_weight(head, name);
  const std::int64_t rows = h.rows();
  check_tensor(h, h.dtype, {rows, head.in}, name, "h");
  check_tensor(targets, DType::i32, {rows}, name, "targets");
  check_indices(targets, head.out, name, "target");
  check_tensor(sums, DType::f64, {2}, name, "sums");
  if (dh) check_tensor(dh, h.dtype, h.shape, name, "dh");
  if (rows > 0) linear().engine.cross_entropy(h, head, targets, grad_scale, sums, dh, soft_cap);
}

void CpuBackend::head_logits(TensorView h, const Weight& head, TensorView logits, float soft_cap) {
  constexpr const char* name = "head_logits";
  check_matrix(h, name, "h");
  check_stored_weight(head, name);
  const std::int64_t rows = h.rows();
  check_tensor(h, h.dtype, {rows, head.in}, name, "h");
  check_tensor(logits, DType::f32, {rows, head.out}, name, "logits");
  if (rows > 0) linear().engine.logits(h, head, logits, soft_cap);
}

}  // namespace lorikeet
