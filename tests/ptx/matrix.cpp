// SPDX-License-Identifier: Apache-2.0
// PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": ldmatrix, stmatrix, mma. With g = lane / 4
// and t = lane % 4, 16-bit elements of m16n8kK:
//   A (16 x K, row): register r holds row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next;
//   B (K x 8, col): register r holds rows 2t + 8 r and the next, column g;
//   C and D (16 x 8): f32 element e is row g + 8 (e / 2), column 2t + e % 2; f16 pairs share a register.
// tf32 (m16n8k8): A register r is row g + 8 (r % 2), column t + 4 (r / 2); B register r is row t + 4 r,
// column g.
#include <cstring>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"
#include "tests/ptx/memory.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;

constexpr U rows = 16, columns = 8, most_k = 32;

struct Operands {
  float a[rows][most_k], b[most_k][columns], c[rows][columns];
};

enum class Element : std::uint8_t { f16, bf16, tf32 };

float element(U word, U half, Element kind) {
  const auto bits = static_cast<std::uint16_t>(word >> (16 * half));
  if (kind == Element::tf32) return as_float(word & ~0x1fffu);
  return kind == Element::f16 ? to_float(f16{bits}) : to_float(bf16{bits});
}

/// Four rows at a time, so that their sums do not wait for each other.
[[gnu::always_inline]] inline void multiply(Operands& m, U k) {
  typedef float Row [[gnu::vector_size(sizeof(float) * columns)]];
  for (U r = 0; r < rows; r += 4) {
    Row sum[4], b;
    std::memcpy(sum, m.c[r], sizeof sum);
    for (U j = 0; j < k; ++j) {
      std::memcpy(&b, m.b[j], sizeof b);
      for (U q = 0; q < 4; ++q) sum[q] += m.a[r + q][j] * b;
    }
    std::memcpy(m.c[r], sum, sizeof sum);
  }
}
LORIKEET_PTX_CLONES void multiply_8(Operands& m) {
  multiply(m, 8);
}
LORIKEET_PTX_CLONES void multiply_16(Operands& m) {
  multiply(m, 16);
}

template <Element Kind>
LORIKEET_PTX_CLONES void gather(Operands& m, Warp& w, const Slot* a, const Slot* b, U k) {
  const bool words = Kind == Element::tf32;
  const U a_registers = words ? k / 2 : k / 4, b_registers = words ? k / 4 : k / 8;
  for (U r = 0; r < a_registers; ++r) {
    const U* in = w.at<U>(a[r]);
    for (U lane = 0; lane < warp_size; ++lane) {
      const U row = lane / 4 + 8 * (r % 2), t = lane % 4;
      if (words) {
        m.a[row][t + 4 * (r / 2)] = element(in[lane], 0, Kind);
      } else {
        m.a[row][2 * t + 8 * (r / 2)] = element(in[lane], 0, Kind);
        m.a[row][2 * t + 8 * (r / 2) + 1] = element(in[lane], 1, Kind);
      }
    }
  }
  for (U r = 0; r < b_registers; ++r) {
    const U* in = w.at<U>(b[r]);
    for (U lane = 0; lane < warp_size; ++lane) {
      const U column = lane / 4, t = lane % 4;
      if (words) {
        m.b[t + 4 * r][column] = element(in[lane], 0, Kind);
      } else {
        m.b[2 * t + 8 * r][column] = element(in[lane], 0, Kind);
        m.b[2 * t + 8 * r + 1][column] = element(in[lane], 1, Kind);
      }
    }
  }
}

/// i.count is K, i.flag: C and D are f16. The list holds D, then A, B, C.
template <Element Kind>
void run_mma(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (mask != all_lanes)
    throw Fault{static_cast<U>(std::countr_zero(~mask)), "mma without all lanes of the warp"};
  const U k = i.count, d_registers = i.list_destinations;
  const U a_registers = Kind == Element::tf32 ? k / 2 : k / 4,
          b_registers = Kind == Element::tf32 ? k / 4 : k / 8;
  const Slot* d = w.list(i);
  const Slot *a = d + d_registers, *b = a + a_registers, *c = b + b_registers;
  Operands m;
  gather<Kind>(m, w, a, b, k);
  for (U e = 0; e < 4; ++e) {
    const U* in = w.at<U>(c[i.flag ? e / 2 : e]);
    for (U lane = 0; lane < warp_size; ++lane) {
      m.c[lane / 4 + 8 * (e / 2)][2 * (lane % 4) + e % 2] =
          i.flag ? element(in[lane], e % 2, Element::f16) : as_float(in[lane]);
    }
  }
  if (k == 8) {
    multiply_8(m);
  } else {
    multiply_16(m);
  }
  for (U r = 0; r < d_registers; ++r) {
    U* out = w.at<U>(d[r]);
    for (U lane = 0; lane < warp_size; ++lane) {
      if (i.flag) {
        const float* row = m.c[lane / 4 + 8 * r];
        const U low = narrow<f16>(row[2 * (lane % 4)]).bits, high = narrow<f16>(row[2 * (lane % 4) + 1]).bits;
        out[lane] = high << 16 | low;
      } else {
        out[lane] = bits_of(m.c[lane / 4 + 8 * (r / 2)][2 * (lane % 4) + r % 2]);
      }
    }
  }
}

/// Lanes 8m ... 8m + 7 give the addresses of the rows of matrix m. Thread l receives row l / 4, elements 2 (l
/// % 4) and the next; transposed: column l / 4.
void run_ldmatrix(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (mask != all_lanes)
    throw Fault{static_cast<U>(std::countr_zero(~mask)), "ldmatrix without all lanes of the warp"};
  const U matrices = i.list_destinations;
  Places p;
  const U addressing = matrices == 4 ? all_lanes : (1u << (8 * matrices)) - 1;
  resolve(w, i, addressing, i.a, i.offset, 16, Access::read, p);
  before_reads(w, i, addressing, p, 16);
  for (U m = 0; m < matrices; ++m) {
    std::uint16_t matrix[8][8];
    for (U r = 0; r < 8; ++r) std::memcpy(matrix[r], p.data[8 * m + r], 16);
    U* d = w.at<U>(w.list(i)[m]);
    for (U lane = 0; lane < warp_size; ++lane) {
      const U g = lane / 4, t = 2 * (lane % 4);
      d[lane] = i.flag ? matrix[t][g] | U{matrix[t + 1][g]} << 16 : matrix[g][t] | U{matrix[g][t + 1]} << 16;
    }
  }
}

void run_stmatrix(Warp& w, const Instruction& i, std::uint32_t mask) {
  if (mask != all_lanes)
    throw Fault{static_cast<U>(std::countr_zero(~mask)), "stmatrix without all lanes of the warp"};
  const U matrices = i.list_size;
  Places p;
  const U addressing = matrices == 4 ? all_lanes : (1u << (8 * matrices)) - 1;
  resolve(w, i, addressing, i.a, i.offset, 16, Access::write, p);
  for (U m = 0; m < matrices; ++m) {
    std::uint16_t matrix[8][8];
    const U* from = w.at<U>(w.list(i)[m]);
    for (U lane = 0; lane < warp_size; ++lane) {
      const U g = lane / 4, t = 2 * (lane % 4);
      const auto low = static_cast<std::uint16_t>(from[lane]),
                 high = static_cast<std::uint16_t>(from[lane] >> 16);
      (i.flag ? matrix[t][g] : matrix[g][t]) = low;
      (i.flag ? matrix[t + 1][g] : matrix[g][t + 1]) = high;
    }
    for (U r = 0; r < 8; ++r) {
      before_write(w, i, 8 * m + r, p, 16, reinterpret_cast<const std::byte*>(matrix[r]));
      std::memcpy(p.data[8 * m + r], matrix[r], 16);
    }
  }
}

std::vector<Slot> sources(Decoder& d, std::size_t operand, std::size_t count, Type t) {
  const std::vector<Operand> parts = Decoder::elements(d.operand(operand));
  if (parts.size() != count) d.fail("a fragment has another number of registers");
  std::vector<Slot> slots;
  for (const Operand& o : parts) slots.push_back(d.source(o, t));
  return slots;
}

}  // namespace

void decode_ldmatrix(Decoder& d) {
  const bool loads = d.statement().opcode == "ldmatrix";
  if (!d.take("sync") || !d.take("aligned") || !d.take("m8n8")) d.fail("unknown shape");
  const std::size_t matrices = std::size_t{1} << d.need_one({"x1", "x2", "x4"});
  d.i.flag = d.take("trans");
  d.take_one({"shared", "shared::cta"});
  d.need_type({Type::b16});
  d.need_operands(2, 2);
  d.i.space = Space::shared;
  d.address(d.operand(loads ? 1 : 0), d.i.a);
  d.i.flow = Flow::converged;
  d.i.members = d.constant(all_lanes, 128);
  if (loads) {
    const std::vector<Operand> parts = Decoder::elements(d.operand(0));
    if (parts.size() != matrices) d.fail("another number of registers");
    std::vector<Slot> to;
    for (const Operand& o : parts) to.push_back(d.destination(o, Type::b32));
    d.list(to, {});
    d.i.run = run_ldmatrix;
  } else {
    d.list({}, sources(d, 1, matrices, Type::b32));
    d.i.run = run_stmatrix;
  }
}

void decode_mma(Decoder& d) {
  if (!d.take("sync") || !d.take("aligned")) d.fail("unknown modifiers");
  const U k = d.need_one({"m16n8k8", "m16n8k16"}) == 0 ? 8 : 16;
  if (!d.take("row") || !d.take("col")) d.fail("unknown layout");
  const Type to = d.need_type({Type::f32, Type::f16});
  const Type a = d.need_type({Type::f16, Type::bf16, Type::tf32}), b = d.need_type(), c = d.need_type();
  if (a != b || c != to) d.fail("unknown combination of types");
  if (a == Type::tf32 && k != 8) d.fail("unknown shape for this type");
  if (to == Type::f16 && a != Type::f16) d.fail("unknown combination of types");
  d.i.count = static_cast<std::uint8_t>(k);
  d.i.flag = to == Type::f16;
  d.need_operands(4, 4);
  const std::size_t accumulators = d.i.flag ? 2 : 4;
  const Type in_register = d.i.flag ? Type::b32 : Type::f32;
  std::vector<Slot> result, in;
  for (const Operand& o : Decoder::elements(d.operand(0))) result.push_back(d.destination(o, in_register));
  if (result.size() != accumulators) d.fail("a fragment has another number of registers");
  const bool words = a == Type::tf32;
  for (const Slot s : sources(d, 1, words ? k / 2 : k / 4, Type::b32)) in.push_back(s);
  for (const Slot s : sources(d, 2, words ? k / 4 : k / 8, Type::b32)) in.push_back(s);
  for (const Slot s : sources(d, 3, accumulators, in_register)) in.push_back(s);
  d.list(result, in);
  d.i.flow = Flow::converged;
  d.i.members = d.constant(all_lanes, 128);
  d.i.run = a == Type::f16    ? &run_mma<Element::f16>
            : a == Type::bf16 ? &run_mma<Element::bf16>
                              : &run_mma<Element::tf32>;
}

}  // namespace lorikeet::ptx
