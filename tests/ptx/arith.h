// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tests/ptx/decoder.h"

namespace lorikeet::ptx {

// What find_decode() chooses from; each reads one statement into Decoder::i. The opcode tells functions for
// several apart.
void decode_arithmetic(Decoder& d);  // add sub mul mad div rem neg abs min max: integer or floating
bool decode_integer_arithmetic(Decoder& d);
void decode_float_arithmetic(Decoder& d, Type type);
void decode_half_arithmetic(Decoder& d, Type type);
void decode_fma(Decoder& d);
void decode_approximate(Decoder& d);   // rcp rsqrt sqrt sin cos ex2 lg2 tanh
void decode_logic(Decoder& d);         // and or xor not cnot
void decode_shift(Decoder& d);         // shl shr
void decode_funnel_shift(Decoder& d);  // shf
void decode_bits(Decoder& d);          // bfe bfi bfind brev clz popc prmt lop3 sad dp4a dp2a
void decode_carry(Decoder& d);         // add.cc addc sub.cc subc mad.cc madc
void decode_setp(Decoder& d);          // setp set
void decode_select(Decoder& d);        // selp slct
void decode_test(Decoder& d);          // testp copysign
void decode_convert(Decoder& d);       // cvt
void decode_cvta(Decoder& d);          // cvta
void decode_isspacep(Decoder& d);
void decode_mov(Decoder& d);
void decode_load(Decoder& d);      // ld ldu
void decode_store(Decoder& d);     // st
void decode_atomic(Decoder& d);    // atom red
void decode_prefetch(Decoder& d);  // prefetch, prefetchu, discard, applypriority
void decode_cp(Decoder& d);        // cp.async
void decode_branch(Decoder& d);    // bra brx
void decode_call(Decoder& d);
void decode_ret(Decoder& d);      // ret exit
void decode_barrier(Decoder& d);  // bar barrier
void decode_fence(Decoder& d);    // membar fence nanosleep
void decode_trap(Decoder& d);     // trap brkpt
void decode_shuffle(Decoder& d);
void decode_vote(Decoder& d);
void decode_match(Decoder& d);
void decode_redux(Decoder& d);
void decode_elect(Decoder& d);
void decode_activemask(Decoder& d);
void decode_ldmatrix(Decoder& d);  // ldmatrix stmatrix
void decode_mma(Decoder& d);

}  // namespace lorikeet::ptx
