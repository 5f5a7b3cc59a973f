// SPDX-License-Identifier: Apache-2.0
// Known answers of single instructions, worked out by hand from the PTX ISA's text.
#include <QtTest>

#include "tests/ptx/ptx_text.h"

using namespace lorikeet::ptx;
using u32 = std::uint32_t;

namespace {

struct Row {
  const char* body;        // leaves its result in %d and %f
  std::vector<u32> input;  // %a, %b, %c, %e
  u32 d = 0, f = 0;
};

constexpr u32 one = 0x3f800000u, two = 0x40000000u, infinity = 0x7f800000u, nan = 0x7fc00000u;

const std::vector<Row>& integer_rows() {
  static const std::vector<Row> rows = {
      {"add.s32 %d, %a, %b;", {0xffffffffu, 2}, 1},
      {"add.sat.s32 %d, %a, %b;", {0x7fffffffu, 2}, 0x7fffffffu},
      {"sub.sat.s32 %d, %a, %b;", {0x80000000u, 2}, 0x80000000u},
      {"sub.u32 %d, %a, -1;", {5}, 6},
      {"mul.lo.s32 %d, %a, %b;", {0xffffffffu, 7}, 0xfffffff9u},
      {"mul.hi.s32 %d, %a, %b;", {0xffffffffu, 7}, 0xffffffffu},
      {"mul.hi.u32 %d, %a, %b;", {0xffffffffu, 7}, 6},
      {"mul.wide.s32 %l0, %a, %b; mov.b64 {%d, %f}, %l0;", {0xffffffffu, 7}, 0xfffffff9u, 0xffffffffu},
      {"mul.wide.u32 %l0, %a, %b; mov.b64 {%d, %f}, %l0;", {0xffffffffu, 7}, 0xfffffff9u, 6},
      {"mul.hi.u64 %l0, %la, %lc; mov.b64 {%d, %f}, %l0;", {0, 0xffffffffu, 0, 0x10}, 0xfffffff0u, 0xf},
      {"mad.lo.s32 %d, %a, %b, %c;", {3, 4, 5}, 17},
      {"mad.hi.u32 %d, %a, %b, %c;", {0x80000000u, 4, 5}, 7},
      {"mad.wide.s32 %l0, %a, %b, %lc; mov.b64 {%d, %f}, %l0;", {0xffffffffu, 1, 1, 0}, 0, 0},
      {"cvt.u16.u32 %h0, %a; cvt.u16.u32 %h1, %b; mul.wide.u16 %d, %h0, %h1;", {0xffff, 0xffff}, 0xfffe0001u},
      {"cvt.u16.u32 %h0, %a; mul.wide.s16 %d, %h0, %h0;", {0xffff}, 1},
      {"cvt.u16.u32 %h0, %a; add.s16 %h1, %h0, 1; cvt.u32.u16 %d, %h1;", {0xffff}, 0},
      {"div.s32 %d, %a, %b; rem.s32 %f, %a, %b;", {0xfffffff9u, 2}, 0xfffffffdu, 0xffffffffu},
      {"div.u32 %d, %a, %b; rem.u32 %f, %a, %b;", {0xfffffff9u, 2}, 0x7ffffffcu, 1},
      {"div.s32 %d, %a, %b; rem.s32 %f, %a, %b;", {0x80000000u, 0xffffffffu}, 0x80000000u, 0},
      {"neg.s32 %d, %a; abs.s32 %f, %a;", {0xfffffffbu}, 5, 5},
      {"min.s32 %d, %a, %b; max.s32 %f, %a, %b;", {0xffffffffu, 1}, 0xffffffffu, 1},
      {"min.u32 %d, %a, %b; max.u32 %f, %a, %b;", {0xffffffffu, 1}, 1, 0xffffffffu},
      {"and.b32 %d, %a, %b; or.b32 %f, %a, %b;", {12, 10}, 8, 14},
      {"xor.b32 %d, %a, %b; not.b32 %f, %a;", {12, 10}, 6, 0xfffffff3u},
      {"cnot.b32 %d, %a; cnot.b32 %f, %b;", {0, 7}, 1, 0},
      {"shl.b32 %d, %a, %b; shl.b32 %f, %a, 32;", {3, 31}, 0x80000000u, 0},
      {"shr.u32 %d, %a, %b; shr.s32 %f, %a, 40;", {0x80000000u, 33}, 0, 0xffffffffu},
      {"shr.s32 %d, %a, 4; shr.u32 %f, %a, 4;", {0x80000000u}, 0xf8000000u, 0x08000000u},
      {"shf.l.wrap.b32 %d, %a, %b, %c; shf.r.wrap.b32 %f, %a, %b, %c;",
       {0x11111111u, 0x22222222u, 36},
       0x22222221u,
       0x21111111u},
      {"shf.l.clamp.b32 %d, %a, %b, %c; shf.r.clamp.b32 %f, %a, %b, %c;",
       {0x11111111u, 0x22222222u, 36},
       0x11111111u,
       0x22222222u},
      {"bfe.u32 %d, %a, 4, 8; bfe.s32 %f, %a, 4, 8;", {0xff0u}, 0xff, 0xffffffffu},
      {"bfe.s32 %d, %a, 28, 8; bfe.u32 %f, %a, 40, 8;", {0x90000000u}, 0xfffffff9u, 0},
      {"bfe.s32 %d, %a, 0, 0; bfe.s32 %f, %a, 40, 8;", {0x90000000u}, 0, 0xffffffffu},
      {"bfi.b32 %d, %a, %b, 8, 4; bfi.b32 %f, %a, %b, 8, 0;", {0xff, 0}, 0xf00, 0},
      {"bfi.b64 %l0, %la, %lc, 28, 8; mov.b64 {%d, %f}, %l0;", {0xff, 0, 0, 0}, 0xf0000000u, 0xf},
      {"bfind.u32 %d, %a; bfind.shiftamt.u32 %f, %a;", {0x00800000u}, 23, 8},
      {"bfind.s32 %d, %a; bfind.u32 %f, %b;", {0xfffffff0u, 0}, 3, 0xffffffffu},
      {"brev.b32 %d, %a; clz.b32 %f, %a;", {0x00000003u}, 0xc0000000u, 30},
      {"popc.b32 %d, %a; popc.b64 %f, %la;", {0xf0f0u, 0xff}, 8, 16},
      {"clz.b64 %d, %la; clz.b32 %f, %c;", {1, 0, 0}, 63, 32},
      {"brev.b64 %l0, %la; mov.b64 {%d, %f}, %l0;", {1, 2}, 0x40000000u, 0x80000000u},
      {"sad.s32 %d, %a, %b, %c; sad.u32 %f, %a, %b, %c;", {0xffffffffu, 1, 10}, 12, 8},
      {"lop3.b32 %d, %a, %b, %c, 0xE8; lop3.b32 %f, %a, %b, %c, 0x96;", {0xf0, 0xcc, 0xaa}, 0xe8, 0x96},
      {"lop3.b32 %d, %a, %b, %c, 0x01; lop3.b32 %f, %a, %b, %c, 0x40;",
       {0xf0, 0xcc, 0xaa},
       0xffffff01u,
       0x40},
      {"prmt.b32 %d, %a, %b, 0x3614; prmt.b32 %f, %a, %b, 0xc480;",
       {0x83828180u, 0x07060504u},
       0x83068104u,
       0x0004ff80u},
      {"prmt.b32.f4e %d, %a, %b, 1; prmt.b32.b4e %f, %a, %b, 1;",
       {0x33221100u, 0x77665544u},
       0x44332211u,
       0x66770011u},
      {"prmt.b32.rc8 %d, %a, %b, 2; prmt.b32.rc16 %f, %a, %b, 1;",
       {0x33221100u, 0},
       0x22222222u,
       0x33223322u},
      {"prmt.b32.ecl %d, %a, %b, 2; prmt.b32.ecr %f, %a, %b, 1;", {0x33221100u, 0}, 0x33222222u, 0x11111100u},
      {"add.cc.u32 %d, %a, %b; addc.u32 %f, 0, 0;", {0xffffffffu, 1}, 0, 1},
      {"sub.cc.u32 %d, %a, %b; subc.u32 %f, 0, 0;", {0, 1}, 0xffffffffu, 0xffffffffu},
      {"mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %f, %a, %b, 0;", {0xffffffffu, 2, 4}, 2, 2},
      {"dp4a.s32.s32 %d, %a, %b, %c; dp4a.u32.u32 %f, %a, %b, %c;", {0xff020304u, 0x01010101u, 1}, 9, 265},
      {"dp2a.lo.s32.s32 %d, %a, %b, %c; dp2a.hi.s32.s32 %f, %a, %b, %c;",
       {0xffff0002u, 0x01000504u, 10},
       13,
       9},
      {"selp.b32 %d, %a, %b, %p0; slct.s32.s32 %f, %a, %b, %c;", {1, 2, 0x80000000u}, 1, 2},
      {"cvt.s32.s8 %d, %a; cvt.u32.u8 %f, %a;", {0x1f0u}, 0xfffffff0u, 0xf0},
      {"cvt.sat.s8.s32 %d, %a; cvt.sat.u8.s32 %f, %a;", {0xfffffe00u}, 0xffffff80u, 0},
      {"cvt.s8.s32 %d, %a; cvt.u8.u32 %f, %a;", {0x1f0u}, 0xfffffff0u, 0xf0},
      {"cvt.s64.s32 %l0, %a; mov.b64 {%d, %f}, %l0;", {0x80000000u}, 0x80000000u, 0xffffffffu},
      {"mov.b32 {%h0, %h1}, %a; mov.b32 %d, {%h1, %h0};", {0x12345678u}, 0x56781234u},
      {"mov.b64 {%d, _}, %la;", {5, 6}, 5},
      {"mov.b64 {%h0, %h1, %h2, %h3}, %la; mov.b32 %d, {%h3, %h0};", {0x22221111u, 0x44443333u}, 0x11114444u},
      {"mov.u32 %d, WARP_SZ; mov.u32 %f, %nctaid.x;", {}, 32, 1},
  };
  return rows;
}

const std::vector<Row>& float_rows() {
  static const std::vector<Row> rows = {
      {"add.f32 %d, %a, %b;", {one, 0x33800000u}, one},  // 1 + 2^-24: a tie, to even
      {"add.rp.f32 %d, %a, %b; add.rz.f32 %f, %a, %b;", {one, 0x33800000u}, 0x3f800001u, one},
      {"add.rm.f32 %d, %a, %b; add.rz.f32 %f, %a, %b;", {0xbf800000u, 0xb3800000u}, 0xbf800001u, 0xbf800000u},
      {"mul.rz.f32 %d, %a, %b; mul.rn.f32 %f, %a, %b;", {0x3f800001u, 0x3fc00000u}, 0x3fc00001u, 0x3fc00002u},
      // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 exactly: one rounding keeps it.
      {"fma.rn.f32 %d, %a, %b, %c; mul.f32 %r0, %a, %b; add.f32 %f, %r0, %c;",
       {0x3f800800u, 0x3f800800u, 0xbf801000u},
       0x33800000u,
       0},
      // 1 + 2^-60 up and down: f64 alone would lose the small part.
      {"fma.rp.f32 %d, %a, %b, %c; fma.rm.f32 %f, %a, %b, %c;",
       {0x21800000u, 0x3f800000u, one},
       0x3f800001u,
       one},
      {"div.rn.f32 %d, %a, %b; div.rz.f32 %f, %a, %b;", {two, 0x40400000u}, 0x3f2aaaabu, 0x3f2aaaaau},
      {"sqrt.rn.f32 %d, %a; rcp.rn.f32 %f, %b;", {two, 0x40400000u}, 0x3fb504f3u, 0x3eaaaaabu},
      {"add.sat.f32 %d, %a, %a; cvt.sat.f32.f32 %f, %b;", {one, nan}, one, 0},
      {"add.f32 %d, %a, %b; add.ftz.f32 %f, %a, %b;", {0x00400000u, 0x00200000u}, 0x00600000u, 0},
      {"min.f32 %d, %a, %b; max.f32 %f, %a, %b;", {nan, one}, one, one},
      {"min.NaN.f32 %d, %a, %b; max.f32 %f, %a, %a;", {nan, one}, nan, nan},
      {"min.f32 %d, %a, %b; max.f32 %f, %a, %b;", {0, 0x80000000u}, 0x80000000u, 0},
      {"neg.f32 %d, %a; abs.f32 %f, %b;", {one, 0xbf800000u}, 0xbf800000u, one},
      {"copysign.f32 %d, %a, %b;", {0x80000000u, one}, 0xbf800000u},
      {"ex2.approx.f32 %d, %a; lg2.approx.f32 %f, %b;", {0x40400000u, 0x41000000u}, 0x41000000u, 0x40400000u},
      {"rsqrt.approx.f32 %d, %a; sqrt.approx.f32 %f, %a;", {0x40800000u}, 0x3f000000u, two},
      {"add.f64 %l0, %la, %lc; mov.b64 {%d, %f}, %l0;", {0, 0x3ff00000u, 0, 0x3ff00000u}, 0, 0x40000000u},
      {"fma.rn.f64 %l0, %la, %la, %lc; mov.b64 {%d, %f}, %l0;",
       {0, 0x40000000u, 0, 0x3ff00000u},
       0,
       0x40140000u},
      // f16: 0x3c00 = 1, 0x1000 = 2^-11: a tie; 0x1400 = 2^-10: the last bit.
      {"add.rn.f16x2 %d, %a, %b;", {0x3c003c00u, 0x14001000u}, 0x3c013c00u},
      {"mul.f16x2 %d, %a, %b; neg.f16x2 %f, %a;", {0x40003c00u, 0x40004000u}, 0x44004000u, 0xc000bc00u},
      {"max.f16x2 %d, %a, %b; min.NaN.f16x2 %f, %a, %b;",
       {0x7e003c00u, 0x3c004000u},
       0x3c004000u,
       0x7fff3c00u},
      // bf16 fma, 1 + 2^-7 squared minus (1 + 2^-6) = 2^-14 in one rounding; in two it would be 0.
      {"fma.rn.bf16x2 %d, %a, %a, %b;", {0x3f813f81u, 0xbf82bf82u}, 0x38803880u},
      // f16 fma just below a tie, 1 + 2^-10 + 2^-11 (1 - 2^-20): f32 in between would make it one, to 0x3c02.
      {"fma.rn.f16x2 %d, %a, %b, %c;", {0x28012801u, 0x23fe23feu, 0x3c013c01u}, 0x3c013c01u},
      {"cvt.rn.f16x2.f32 %d, %a, %b; cvt.rn.bf16x2.f32 %f, %a, %b;", {one, two}, 0x3c004000u, 0x3f804000u},
      {"cvt.rn.relu.bf16x2.f32 %d, %a, %b;", {0xbf800000u, two}, 0x00004000u},
      {"cvt.rz.bf16x2.f32 %d, %a, %b; cvt.rn.bf16x2.f32 %f, %a, %b;",
       {0x3f80ffffu, 0xbf80ffffu},
       0x3f80bf80u,
       0x3f81bf81u},
      {"cvt.rn.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0; cvt.f32.bf16 %f, %h0;", {0x3f808000u}, 0x3f80, one},
      {"cvt.rn.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0; cvt.rn.f16.f32 %h1, %a; cvt.u32.u16 %f, %h1;",
       {0xffc00001u},
       0x7fff,
       0x7fff},
      {"cvt.rn.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0; cvt.rn.f16.f32 %h1, %b; cvt.u32.u16 %f, %h1;",
       {0x477ff000u, 0x477fefffu},
       0x7c00,
       0x7bff},  // 65520 and just below
      {"cvt.rn.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0; cvt.rn.f16.f32 %h1, %b; cvt.u32.u16 %f, %h1;",
       {0x33000001u, 0x33000000u},
       1,
       0},  // just above half of 2^-24, and half
      {"cvt.rz.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0; cvt.f32.f16 %f, %h0;",
       {0x477ff000u},
       0x7bff,
       0x477fe000u},
      {"cvt.u16.u32 %h0, %a; cvt.f32.f16 %d, %h0; cvt.f32.f16 %f, %h0;", {0x0001u}, 0x33800000u, 0x33800000u},
      {"cvt.rni.s32.f32 %d, %a; cvt.rzi.s32.f32 %f, %a;", {0x40200000u}, 2, 2},                      // 2.5
      {"cvt.rni.s32.f32 %d, %a; cvt.rmi.s32.f32 %f, %a;", {0xc0600000u}, 0xfffffffcu, 0xfffffffcu},  // -3.5
      {"cvt.rpi.s32.f32 %d, %a; cvt.rzi.u32.f32 %f, %b;", {0x40200000u, 0xbf800000u}, 3, 0},
      {"cvt.rzi.s32.f32 %d, %a; cvt.rzi.u32.f32 %f, %a;", {0x4f800000u}, 0x7fffffffu, 0xffffffffu},  // 2^32
      {"cvt.rzi.s32.f32 %d, %a; cvt.rzi.u32.f32 %f, %b;", {nan, infinity}, 0, 0xffffffffu},
      {"cvt.rzi.s64.f32 %l0, %a; mov.b64 {%d, %f}, %l0;", {nan}, 0, 0x80000000u},
      {"cvt.rni.f32.f32 %d, %a; cvt.rmi.f32.f32 %f, %b;", {0x3fc00000u, 0xbf000000u}, two, 0xbf800000u},
      {"cvt.rn.f32.s32 %d, %a; cvt.rz.f32.s32 %f, %a;", {0x7fffffffu}, 0x4f000000u, 0x4effffffu},
      {"cvt.rn.f32.u32 %d, %a; cvt.rn.f32.s32 %f, %a;", {0xffffffffu}, 0x4f800000u, 0xbf800000u},
      {"cvt.rn.f32.u64 %d, %la; cvt.rn.f32.s64 %f, %lc;",
       {0, 1, 0xffffffffu, 0xffffffffu},
       0x4f800000u,
       0xbf800000u},
      {"cvt.f64.f32 %l0, %a; mov.b64 {%d, %f}, %l0;", {one}, 0, 0x3ff00000u},
      {"cvt.rn.f32.f64 %d, %la; cvt.rz.f32.f64 %f, %la;", {0xffffffffu, 0x3fefffffu}, one, 0x3f7fffffu},
      {"cvt.rna.tf32.f32 %d, %a;", {0x3f801000u}, 0x3f802000u},
      {"setp.lt.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p; setp.ltu.f32 %q, %a, %b; selp.u32 %f, 1, 0, %q;",
       {nan, one},
       0,
       1},
      {"setp.ne.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p; setp.neu.f32 %q, %a, %b; selp.u32 %f, 1, 0, %q;",
       {nan, one},
       0,
       1},
      {"setp.num.f32 %p, %a, %b; selp.u32 %d, 1, 0, %p; setp.nan.f32 %q, %a, %b; selp.u32 %f, 1, 0, %q;",
       {one, one},
       1,
       0},
      {"setp.gt.s32 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %f, 1, 0, %q;", {2, 1}, 1, 0},
      {"setp.eq.s32 %p0, %a, %a; setp.gt.and.s32 %p|%q, %a, %b, !%p0; selp.u32 %d, 1, 0, %p; selp.u32 %f, 1, "
       "0, %q;",
       {2, 1},
       0,
       0},
      {"setp.lo.u32 %p, %a, %b; selp.u32 %d, 1, 0, %p; setp.lt.s32 %q, %a, %b; selp.u32 %f, 1, 0, %q;",
       {1, 0xffffffffu},
       1,
       0},
      {"setp.gt.f16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %f, 1, 0, %q;",
       {0x3c004000u, 0x3c003c00u},
       1,
       0},
      {"setp.lt.bf16x2 %p|%q, %a, %b; selp.u32 %d, 1, 0, %p; selp.u32 %f, 1, 0, %q;",
       {0x3f804000u, 0x40003f80u},
       0,
       1},
      {"set.gt.u32.f32 %d, %a, %b; set.gt.f32.f32 %f, %a, %b;", {two, one}, 0xffffffffu, one},
      {"set.gt.f16x2.f16x2 %d, %a, %b; set.gtu.bf16x2.bf16x2 %f, %a, %b;",
       {0x3c004000u, 0x3c003c00u},
       0x00003c00u,
       0x3f80u},
      {"testp.subnormal.f32 %p, %a; selp.u32 %d, 1, 0, %p; testp.finite.f32 %q, %b; selp.u32 %f, 1, 0, %q;",
       {1, infinity},
       1,
       0},
  };
  return rows;
}

}  // namespace

class TestInterpreter : public QObject {
  Q_OBJECT
 private slots:
  void an_instruction_gives_the_known_answer_data() {
    QTest::addColumn<int>("table");
    QTest::addColumn<int>("row");
    for (int table = 0; table < 2; ++table) {
      const auto& rows = table == 0 ? integer_rows() : float_rows();
      for (std::size_t n = 0; n < rows.size(); ++n) {
        QTest::addRow("%d %s", static_cast<int>(n), rows[n].body) << table << static_cast<int>(n);
      }
    }
  }
  void an_instruction_gives_the_known_answer() {
    QFETCH(int, table);
    QFETCH(int, row);
    const Row& r = (table == 0 ? integer_rows() : float_rows())[static_cast<std::size_t>(row)];
    Snippet s;
    s.body = std::string("setp.eq.u32 %p0, %t, %t;\n") + r.body;
    s.input = r.input;
    s.input.resize(4);
    // A full warp, a part of one, and lanes that branched: the three ways a handler runs.
    for (const unsigned threads : {32u, 5u}) {
      s.block = {threads, 1, 1};
      const Outcome o = s.run();
      QCOMPARE(o.complaint, std::string());
      for (unsigned t = 0; t < threads; ++t) {
        QCOMPARE(o.words[2 * t], r.d);
        QCOMPARE(o.words[2 * t + 1], r.f);
      }
    }
    s.block = {32, 1, 1};
    s.body = "setp.eq.u32 %p0, %t, %t; and.b32 %x, %t, 1; setp.eq.u32 %p7, %x, 0;\n@%p7 bra skip;\n" +
             std::string(r.body) + "\nskip:\n";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (unsigned t = 0; t < 32; ++t) QCOMPARE(o.words[2 * t], t % 2 == 1 ? r.d : 0);
  }
};

QTEST_GUILESS_MAIN(TestInterpreter)
#include "test_interpreter.moc"
