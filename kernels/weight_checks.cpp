// SPDX-License-Identifier: Apache-2.0
#include "kernels/weight_checks.h"

#include "kernels/checks.h"
#include "kernels/nf4.h"

namespace lorikeet {

void check_stored_weight(const Weight& weight, const char* operation) {
  check(weight.out > 0 && weight.in > 0, operation, "the weight is empty");
  const std::int64_t elements = weight.out * weight.in;
  const std::int64_t blocks = nf4_blocks(elements);
  const Shape matrix{weight.out, weight.in};
  switch (weight.format) {
    case WeightFormat::f32:
      check_tensor(weight.values, DType::f32, matrix, operation, "weight");
      break;
    case WeightFormat::bf16:
      check_tensor(weight.values, DType::bf16, matrix, operation, "weight");
      break;
    case WeightFormat::f16:
      check_tensor(weight.values, DType::f16, matrix, operation, "weight");
      break;
    case WeightFormat::int8:
      check_tensor(weight.values, DType::i8, matrix, operation, "weight");
      check_tensor(weight.absmax, DType::f32, {weight.out}, operation, "weight absmax");
      break;
    default:
      check_tensor(weight.values, DType::u8, {(elements + 1) / 2}, operation, "weight codes");
      check_tensor(weight.absmax, is_nested(weight.format) ? DType::u8 : DType::f32, {blocks}, operation,
                   "weight absmax");
      break;
  }
  if (is_nested(weight.format)) {
    check_tensor(weight.nested_absmax, DType::f32, {nf4_nested_blocks(blocks)}, operation,
                 "weight nested absmax");
  }
  if (weight.bias) check_tensor(weight.bias, DType::f32, {weight.out}, operation, "bias");
}

void check_row_norms(const Weight& weight, const LoraTerm* lora, TensorView norms, TensorView magnitude,
                     TensorView gain, const char* operation) {
  if (lora != nullptr) {
    check(lora->a.shape.rank() == 2 && lora->a.rows() > 0, operation, "A is not a matrix with rows");
    check_tensor(lora->a, DType::f32, {lora->a.rows(), weight.in}, operation, "A");
    check_tensor(lora->b, DType::f32, {weight.out, lora->a.rows()}, operation, "B");
  }
  check_tensor(norms, DType::f32, {weight.out}, operation, "norms");
  check(static_cast<bool>(magnitude) == static_cast<bool>(gain), operation, "magnitude and gain go together");
  if (!gain) return;
  check_tensor(magnitude, DType::f32, {weight.out}, operation, "magnitude");
  check_tensor(gain, DType::f32, {weight.out}, operation, "gain");
}

}  // namespace lorikeet
