#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run_on_model.sh MODEL ISA FOLDER: runs the tests of the operations in FOLDER on an emulated processor that lacks every
# instruction above ISA, so that one in the wrong place is an illegal instruction. Exit code 77 (skipped) without qemu.
set -u
model=$1 isa=$2 folder=$3
command -v qemu-x86_64 > /dev/null || { echo "SKIP: qemu-x86_64 (package qemu-user) is not installed"; exit 77; }
unset LORIKEET_ISA
export QTEST_FUNCTION_TIMEOUT=1800000 QTEST_DISABLE_STACK_DUMP=1

run() {
  name=$1
  shift
  echo "== $name on $model"
  qemu-x86_64 -cpu "$model" "$folder/$name" "$@" 2> /dev/null | grep -E "^(FAIL|XPASS|QFATAL|Totals)|instruction set" > "$log"
  cat "$log"
  grep -q ", 0 failed" "$log" || failed="$failed $name"
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
failed=
qemu-x86_64 -cpu "$model" "$folder/test_cpu_info" 2> /dev/null | grep "instruction set: $isa" ||
  { echo "The emulated processor is not taken for $isa"; exit 1; }
run test_rows embedding_takes_the_rows_of_its_ids adding_is_exact_up_to_one_rounding \
  copies_convert_between_all_float_types:"65 elements"
run test_rms_norm
run test_rope
run test_swiglu
run test_optimizer adamw_equals_the_reference:"5000 elements" squares_are_summed_in_fixed_order:"5000 elements"
run test_optimizer_golden
run test_attention packed_sequences_give_the_bits_they_give_alone forward_and_backward_equal_the_reference:"head_dim 64" \
  forward_and_backward_equal_the_reference:"head_dim 7" a_cache_is_attended_up_to_each_query:"one query at 257" \
  a_cache_is_attended_up_to_each_query:"65 queries at 70"
run test_nf4
run test_linear forward_equals_the_reference:"f32 nf4 1x64x128" \
  forward_equals_the_reference:"f32 nf4 5x200x64 r4 r9 bias" forward_equals_the_reference:"f32 bf16 17x129x65 r1 bias accumulate" \
  without_dx_the_gradients_of_the_branch_are_the_same
run test_head logits_equal_the_reference:"f32 nf4 1x100x64" loss_and_gradient_equal_the_reference:"f32 nf4 7x333x70" \
  loss_and_gradient_equal_the_reference:"f32 bf16 1x100x64"
[ -z "$failed" ] || { echo "Failed on $model:$failed"; exit 1; }
