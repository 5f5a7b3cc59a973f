// SPDX-License-Identifier: Apache-2.0
// PTX ISA: mov, cvta, isspacep, testp, copysign.
#include <chrono>
#include <cmath>
#include <cstring>

#include "tests/ptx/arith.h"
#include "tests/ptx/lanes.h"

namespace lorikeet::ptx {

namespace {

using U = std::uint32_t;
using L = std::uint64_t;

void run_move_predicate(Warp& w, const Instruction& i, std::uint32_t mask) {
  U& d = *w.at<U>(i.d);
  d = (d & ~mask) | (*w.at<U>(i.a) & mask);
}

/// {a, b, ...} of i.width bytes each into one register.
template <typename Part, typename Whole>
void run_pack(Warp& w, const Instruction& i, std::uint32_t mask) {
  Whole* d = w.at<Whole>(i.d);
  const Slot* parts = w.list(i);
  const U bits = 8u * i.width;
  for_each_lane(mask, [&](U l) {
    Whole value = 0;
    for (U n = 0; n < i.list_size; ++n) value |= static_cast<Whole>(w.at<Part>(parts[n])[l]) << (bits * n);
    d[l] = value;
  });
}
template <typename Part, typename Whole>
void run_unpack(Warp& w, const Instruction& i, std::uint32_t mask) {
  const Slot* parts = w.list(i);
  const U bits = 8u * i.width;
  const Whole field = static_cast<Whole>((Whole{1} << bits) - 1);
  for_each_lane(mask, [&](U l) {
    const Whole value = w.at<Whole>(i.a)[l];
    for (U n = 0; n < i.list_size; ++n)
      w.at<Part>(parts[n])[l] = static_cast<Part>(value >> (bits * n) & field);
  });
}

// Time passes with the instructions of the launch.
template <typename W>
void run_clock(Warp& w, const Instruction& i, std::uint32_t mask) {
  W* d = w.at<W>(i.d);
  for_each_lane(mask, [&](U l) { d[l] = static_cast<W>(w.block.launch.counts.instructions); });
}

void decode_pieces(Decoder& d, Type t) {
  const bool packs = d.operand(1).kind == Operand::Kind::vector;
  const std::vector<Operand>& parts = d.operand(packs ? 1 : 0).parts;
  const auto count = static_cast<int>(parts.size());
  if ((count != 2 && count != 4) || size_of(t) < 4) d.fail("unknown vector");
  const int width = size_of(t) / count;
  if (width < 2) d.fail("registers of 8 bits are not known");
  const Type part = width == 2 ? Type::b16 : Type::b32;
  d.i.width = static_cast<std::uint8_t>(width);
  std::vector<Slot> slots;
  for (const Operand& o : parts) slots.push_back(packs ? d.source(o, part) : d.destination(o, part));
  if (packs) {
    d.i.d = d.destination(0, t);
    d.list({}, slots);
    d.i.run = size_of(t) == 8 ? &run_pack<U, L> : &run_pack<U, U>;
  } else {
    d.i.a = d.source(1, t);
    d.list(slots, {});
    d.i.run = size_of(t) == 8 ? &run_unpack<U, L> : &run_unpack<U, U>;
  }
}

/// Adds or takes away i.offset, the base of a window.
void run_cvta(Warp& w, const Instruction& i, std::uint32_t mask) {
  const L* a = w.at<L>(i.a);
  L* d = w.at<L>(i.d);
  for_each_lane(mask, [&](U l) { d[l] = a[l] + static_cast<L>(i.offset); });
}

}  // namespace

void decode_mov(Decoder& d) {
  const Type t = d.need_type();
  d.need_operands(2, 2);
  const Operand& from = d.operand(1);
  if (from.kind == Operand::Kind::vector || d.operand(0).kind == Operand::Kind::vector)
    return decode_pieces(d, t);
  d.i.d = d.destination(0, t);
  if (from.kind == Operand::Kind::special &&
      (from.name.rfind("clock", 0) == 0 || from.name == "globaltimer" || from.name == "globaltimer_lo" ||
       from.name == "gridid")) {
    d.i.run = size_of(t) == 8 ? &run_clock<L> : &run_clock<U>;
    return;
  }
  d.i.a = d.source(1, t);
  d.i.copies = true;
  d.i.run = t == Type::pred   ? &run_move_predicate
            : size_of(t) == 8 ? lanewise<L, L>([](L v) { return v; })
            : size_of(t) == 2 ? lanewise<std::uint16_t, std::uint16_t>([](std::uint16_t v) { return v; })
                              : lanewise<U, U>([](U v) { return v; });
}

void decode_cvta(Decoder& d) {
  const bool to = d.take("to");
  const int space = d.need_one({"global", "shared", "local", "const", "param", "shared::cta"});
  const Type t = d.need_type({Type::u64, Type::u32});
  if (t != Type::u64) d.fail("addresses of 32 bits are not known");
  d.need_operands(2, 2);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, t);
  // Symbols of the param space carry their window already.
  const L window = space == 1 || space == 5 ? shared_window : space == 2 ? local_window : 0;
  d.i.offset = static_cast<std::int64_t>(to ? 0 - window : window);
  d.i.run = run_cvta;
}

void decode_isspacep(Decoder& d) {
  const int space = d.need_one({"global", "shared", "local", "const", "param", "shared::cta"});
  d.need_operands(2, 2);
  d.i.d = d.destination(0, Type::pred);
  d.i.a = d.source(1, Type::u64);
  d.i.offset = space == 1 || space == 5 ? 1 : space == 2 ? 2 : space == 4 ? 3 : space == 3 ? 4 : 0;
  d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) {
    const L* a = w.at<L>(i.a);
    U& to = *w.at<U>(i.d);
    for_each_lane(mask, [&](U l) {
      const bool yes = static_cast<std::int64_t>(a[l] >> 56) == i.offset;
      to = (to & ~(1u << l)) | U{yes} << l;
    });
  };
}

void decode_test(Decoder& d) {
  if (d.statement().opcode == "copysign") {
    const Type t = d.need_type({Type::f32, Type::f64});
    d.need_operands(3, 3);
    d.i.d = d.destination(0, t);
    d.i.a = d.source(1, t);
    d.i.b = d.source(2, t);
    d.i.run = t == Type::f32
                  ? lanewise<float, float, float>([](float a, float b) { return std::copysign(b, a); })
                  : lanewise<double, double, double>([](double a, double b) { return std::copysign(b, a); });
    return;
  }
  d.i.mode = static_cast<std::uint8_t>(
      d.need_one({"finite", "infinite", "number", "notanumber", "normal", "subnormal"}));
  const Type t = d.need_type({Type::f32, Type::f64});
  d.need_operands(2, 2);
  d.i.type = t;
  d.i.d = d.destination(0, Type::pred);
  d.i.a = d.source(1, t);
  d.i.run = [](Warp& w, const Instruction& i, std::uint32_t mask) {
    U& to = *w.at<U>(i.d);
    for_each_lane(mask, [&](U l) {
      int kind;
      if (i.type == Type::f32) {
        kind = std::fpclassify(as_float(w.at<U>(i.a)[l]));
      } else {
        kind = std::fpclassify(as_double(w.at<L>(i.a)[l]));
      }
      const bool finite = kind != FP_NAN && kind != FP_INFINITE;
      const bool answers[] = {finite,
                              kind == FP_INFINITE,
                              kind != FP_NAN,
                              kind == FP_NAN,
                              kind == FP_NORMAL || kind == FP_ZERO,
                              kind == FP_SUBNORMAL};
      to = (to & ~(1u << l)) | U{answers[i.mode]} << l;
    });
  };
}

}  // namespace lorikeet::ptx
