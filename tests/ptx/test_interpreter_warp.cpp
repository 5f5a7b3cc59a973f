// SPDX-License-Identifier: Apache-2.0
// What the lanes of a warp do together: answers lane by lane, as the PTX ISA's text and figures give them.
#include <QtTest>

#include "tests/ptx/floats.h"
#include "tests/ptx/ptx_text.h"

using namespace lorikeet::ptx;
using u32 = std::uint32_t;

namespace {

Snippet warp_of(const std::string& body) {
  Snippet s;
  s.block = {32, 1, 1};
  s.body = body;
  return s;
}

/// 8x8 matrices of 16-bit elements numbered 256 matrix + 16 row + column, put into shared memory by lane.
const char* const fill_matrices = R"(
.shared .align 16 .b8 tile[512];
mov.u32 %r0, tile;
shl.b32 %r1, %t, 4; add.u32 %r0, %r0, %r1;       // the row of this lane: 16 bytes
shr.u32 %r2, %t, 3; shl.b32 %r2, %r2, 8; and.b32 %r3, %t, 7; shl.b32 %r3, %r3, 4; or.b32 %r2, %r2, %r3;
mul.lo.u32 %r2, %r2, 65537; add.u32 %r2, %r2, 65536;
st.shared.u32 [%r0], %r2; add.u32 %r2, %r2, 0x20002; st.shared.u32 [%r0+4], %r2; add.u32 %r2, %r2, 0x20002;
st.shared.u32 [%r0+8], %r2; add.u32 %r2, %r2, 0x20002; st.shared.u32 [%r0+12], %r2;
bar.warp.sync 0xffffffff;
)";

u32 numbered(u32 matrix, u32 row, u32 column) {
  return 256 * matrix + 16 * row + column;
}

}  // namespace

class TestInterpreterWarp : public QObject {
  Q_OBJECT
 private slots:
  void shuffles_follow_clamp_and_segments_data() {
    QTest::addColumn<QString>("mode");
    QTest::addColumn<unsigned>("b");
    QTest::addColumn<unsigned>("c");
    // c as CUDA gives it: width 32 is 0x1f (up: 0), width 8 is 0x181f (up: 0x1800).
    for (const unsigned b : {0u, 1u, 5u, 16u, 31u}) {
      for (const unsigned width : {32u, 8u, 2u}) {
        const unsigned segment = (32 - width) << 8;
        QTest::addRow("up %u of %u", b, width) << "up" << b << segment;
        QTest::addRow("down %u of %u", b, width) << "down" << b << (segment | 31);
        QTest::addRow("bfly %u of %u", b, width) << "bfly" << b << (segment | 31);
        QTest::addRow("idx %u of %u", b, width) << "idx" << b << (segment | 31);
      }
    }
  }
  void shuffles_follow_clamp_and_segments() {
    QFETCH(QString, mode);
    QFETCH(unsigned, b);
    QFETCH(unsigned, c);
    Snippet s =
        warp_of("mul.lo.u32 %r0, %t, 3; shfl.sync." + mode.toStdString() + ".b32 %d|%p, %r0, " +
                std::to_string(b) + ", " + std::to_string(c) + ", 0xffffffff; selp.u32 %f, 1, 0, %p;");
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    const unsigned width = 32 - (c >> 8);
    for (unsigned lane = 0; lane < 32; ++lane) {
      // As the CUDA guide says it: within the segment of `width` lanes, else the lane's own value.
      const unsigned start = lane / width * width;
      int from = 0;
      if (mode == "up") from = static_cast<int>(lane) - static_cast<int>(b);
      if (mode == "down") from = static_cast<int>(lane + b);
      if (mode == "bfly") from = static_cast<int>(lane ^ b);
      if (mode == "idx") from = static_cast<int>(start + b % width);
      // bfly may reach into an earlier segment; the ISA compares with the last lane only.
      const bool in =
          from < static_cast<int>(start + width) && (from >= static_cast<int>(start) || mode == "bfly");
      QCOMPARE(o.words[2 * lane], 3 * (in ? static_cast<u32>(from) : lane));
      QCOMPARE(o.words[2 * lane + 1], u32{in});
    }
  }

  void lanes_of_a_partial_mask_wait_for_each_other() {
    // Lanes 0-7 come by another way than 8-15; the others never.
    const Outcome o = warp_of(R"(setp.ge.u32 %p, %t, 16; @%p bra end;
setp.lt.u32 %q, %t, 8; @%q bra low;
add.u32 %r0, %t, 100; bra meet;
low: add.u32 %r0, %t, 200;
meet: shfl.sync.bfly.b32 %d, %r0, 8, 31, 0xffff;
end:)")
                          .run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 16; ++t) QCOMPARE(o.words[2 * t], t < 8 ? t + 108 : t + 192);
    QCOMPARE(o.words[32], 0u);
  }

  void two_masks_at_one_instruction_are_two_groups() {
    const Outcome o = warp_of(R"(setp.lt.u32 %p, %t, 16; selp.u32 %r0, 0xffff, 0xffff0000, %p;
setp.ne.u32 %q, %t, 99; vote.sync.ballot.b32 %d, %q, %r0; redux.sync.add.s32 %f, %t, %r0;)")
                          .run();
    QCOMPARE(o.complaint, std::string());
    QCOMPARE(o.words[0], 0xffffu);
    QCOMPARE(o.words[1], 120u);
    QCOMPARE(o.words[62], 0xffff0000u);
    QCOMPARE(o.words[63], 376u);
  }

  void lanes_that_have_exited_are_not_waited_for() {
    Snippet s = warp_of(R"(setp.ge.u32 %p, %t, 20; @%p exit;
shfl.sync.down.b32 %d, %t, 1, 31, 0x000fffff; setp.ne.u32 %q, %t, 3; vote.sync.ballot.b32 %f, %q, 0xffffffff;)");
    s.body += "\nsetp.eq.u32 %p0, %t, 19; @%p0 mov.u32 %d, 0;";
    s.body.replace(s.body.find("%t, 1, 31, 0x000fffff"), 21, "%t, 1, 19, 0xffffffff");
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 19; ++t) QCOMPARE(o.words[2 * t], t + 1);
    QCOMPARE(o.words[1], 0x000ffff7u);
    QCOMPARE(o.words[40], 0u);
  }

  void votes_and_matches() {
    const Outcome vote = warp_of(R"(setp.lt.u32 %p, %t, 5; vote.sync.ballot.b32 %d, !%p, 0xffffffff;
vote.sync.any.pred %q, %p, 0xffffffff; selp.u32 %f, 1, 0, %q; vote.sync.all.pred %q, %p, 0xffffffff;
@%q add.u32 %f, %f, 10; vote.sync.uni.pred %q, !%q, 0xffffffff; @%q add.u32 %f, %f, 100;)")
                             .run();
    QCOMPARE(vote.complaint, std::string());
    QCOMPARE(vote.words[0], 0xffffffe0u);
    QCOMPARE(vote.words[1], 101u);
    const Outcome match = warp_of(R"(shr.u32 %r0, %t, 3; match.any.sync.b32 %d, %r0, 0xffffffff;
match.all.sync.b32 %f|%p, %r0, 0xffffffff; @%p mov.u32 %f, 77;)")
                              .run();
    QCOMPARE(match.complaint, std::string());
    for (u32 t = 0; t < 32; ++t) {
      QCOMPARE(match.words[2 * t], 0xffu << (t / 8 * 8));
      QCOMPARE(match.words[2 * t + 1], 0u);
    }
    const Outcome all =
        warp_of("mov.u64 %l0, 5; match.all.sync.b64 %d|%p, %l0, 0xffffffff; selp.u32 %f, 1, 0, %p;").run();
    QCOMPARE(all.words[0], 0xffffffffu);
    QCOMPARE(all.words[1], 1u);
  }

  void reductions_of_the_warp() {
    const Outcome o = warp_of(R"(sub.u32 %r0, %t, 4; redux.sync.min.s32 %d, %r0, 0xffffffff;
redux.sync.max.u32 %f, %r0, 0xffffffff;)")
                          .run();
    QCOMPARE(o.words[0], 0xfffffffcu);
    QCOMPARE(o.words[1], 0xffffffffu);
    const Outcome b =
        warp_of("redux.sync.or.b32 %d, %t, 0xffffffff; elect.sync %f|%p, 0xffffffff; @%p mov.u32 %f, 50;")
            .run();
    QCOMPARE(b.words[0], 31u);
    QCOMPARE(b.words[1], 50u);
    QCOMPARE(b.words[3], 0u);
  }

  void ldmatrix_gives_each_lane_its_elements() {
    for (const bool transposed : {false, true}) {
      const Outcome o = warp_of(std::string(fill_matrices) + "ldmatrix.sync.aligned.m8n8.x4" +
                                (transposed ? ".trans" : "") + R"(.shared.b16 {%r4, %r5, %r6, %r7}, [%r0];
mov.u32 %d, %r4; mov.u32 %f, %r7;)")
                            .run();
      QCOMPARE(o.complaint, std::string());
      for (u32 lane = 0; lane < 32; ++lane) {
        // Lane l holds elements (l / 4, 2 (l % 4)) and the next column; transposed, the next row of column l
        // / 4.
        const u32 g = lane / 4, t = 2 * (lane % 4);
        for (const u32 matrix : {0u, 3u}) {
          const u32 low = transposed ? numbered(matrix, t, g) : numbered(matrix, g, t);
          const u32 high = transposed ? numbered(matrix, t + 1, g) : numbered(matrix, g, t + 1);
          QCOMPARE(o.words[2 * lane + (matrix == 3)], high << 16 | low);
        }
      }
    }
  }

  void stmatrix_is_the_inverse_of_ldmatrix() {
    Snippet s = warp_of(std::string(fill_matrices) + R"(
.shared .align 16 .b8 other[256]; mov.u32 %r8, other; and.b32 %r9, %t, 15; shl.b32 %r9, %r9, 4; add.u32 %r8, %r8, %r9;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r4, %r5}, [%r0];
stmatrix.sync.aligned.m8n8.x2.trans.shared.b16 [%r8], {%r4, %r5};
bar.warp.sync 0xffffffff;
ld.shared.u32 %d, [%r8+4]; ld.shared.u32 %f, [%r8+12];)");
    s.target = 90;
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 lane = 0; lane < 16; ++lane) {
      QCOMPARE(o.words[2 * lane], numbered(lane / 8, lane % 8, 3) << 16 | numbered(lane / 8, lane % 8, 2));
      QCOMPARE(o.words[2 * lane + 1],
               numbered(lane / 8, lane % 8, 7) << 16 | numbered(lane / 8, lane % 8, 6));
    }
  }

  // One element of A at a time is 1 (f16 and bf16: 0x3c00, 0x3f80) and B holds distinct small numbers, so D
  // shows which row and column the element is, register by register as the ISA's figures have them.
  void mma_takes_each_element_from_its_place_data() {
    QTest::addColumn<QString>("type");
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("half_result");
    QTest::addRow("f16 k16") << "f16" << 16 << false;
    QTest::addRow("bf16 k16") << "bf16" << 16 << false;
    QTest::addRow("f16 k8") << "f16" << 8 << false;
    QTest::addRow("bf16 k8") << "bf16" << 8 << false;
    QTest::addRow("f16 k16 in f16") << "f16" << 16 << true;
    QTest::addRow("f16 k8 in f16") << "f16" << 8 << true;
  }
  void mma_takes_each_element_from_its_place() {
    QFETCH(QString, type);
    QFETCH(int, k);
    QFETCH(bool, half_result);
    const u32 one = type == "f16" ? 0x3c00 : 0x3f80;
    for (u32 lane_of_one = 0; lane_of_one < 32; lane_of_one += 5) {
      for (int reg = 0; reg < k / 4; ++reg) {
        for (u32 half = 0; half < 2; ++half) {
          // Row and column of A's element: a0,a1: (g, 2t..), a2,a3: (g+8, 2t..), a4..: (g, 2t+8..), a6..:
          // (g+8, 2t+8..).
          const u32 row = lane_of_one / 4 + (reg % 2 == 1 ? 8 : 0);
          const u32 column = lane_of_one % 4 * 2 + half + (reg >= 2 ? 8 : 0);
          std::string body = "setp.eq.u32 %p, %t, " + std::to_string(lane_of_one) + ";\n";
          for (int r = 0; r < 4; ++r) {
            body += "mov.u32 %r" + std::to_string(r) + ", 0;\n";
            if (r == reg)
              body +=
                  "@%p mov.u32 %r" + std::to_string(r) + ", " + std::to_string(one << (16 * half)) + ";\n";
          }
          // B (k x 8): b0,b1 of lane (g, t): rows 2t, 2t+1, column g; b2,b3: rows 2t+8, 2t+9. Value: row + 16
          // (column % 4), an integer that f16 and bf16 hold exactly, by cvt.
          const std::string cvt = "cvt.rn." + type.toStdString() + "x2.f32 ";
          body +=
              "and.b32 %x, %t, 3; shl.b32 %x, %x, 1; shr.u32 %y, %t, 2; and.b32 %y, %y, 3; shl.b32 %y, %y, "
              "4;\n"
              "add.u32 %x, %x, %y; cvt.rn.f32.u32 %r10, %x; add.f32 %r11, %r10, 0f3F800000;\n" +
              cvt + "%r4, %r11, %r10; add.f32 %r10, %r10, 0f41000000; add.f32 %r11, %r11, 0f41000000;\n" +
              cvt + "%r5, %r11, %r10;\nmov.u32 %r6, 0; mov.u32 %r7, 0; mov.u32 %r8, 0; mov.u32 %r9, 0;\n";
          const std::string sides = k == 16 ? "{%r0, %r1, %r2, %r3}, {%r4, %r5}" : "{%r0, %r1}, {%r4}";
          const std::string to = half_result ? "{%r6, %r7}" : "{%r6, %r7, %r8, %r9}";
          const std::string result = half_result ? "f16" : "f32";
          body += "mma.sync.aligned.m16n8k" + std::to_string(k) + ".row.col." + result + "." +
                  type.toStdString() + "." + type.toStdString() + "." + result + " " + to + ", " + sides +
                  ", " + to + ";\n";
          body += row < 8       ? "mov.u32 %d, %r6; mov.u32 %f, %r7;"
                  : half_result ? "mov.u32 %d, %r7; mov.u32 %f, %r6;"
                                : "mov.u32 %d, %r8; mov.u32 %f, %r9;";
          const Outcome o = warp_of(body).run();
          QCOMPARE(o.complaint, std::string());
          // D (16 x 8): c0,c1: (g, 2t..), c2,c3: (g+8, 2t..). Only row `row` is not zero.
          for (u32 lane = 0; lane < 32; ++lane) {
            const bool here = lane / 4 == row % 8;
            const auto expected = [&](u32 n) {
              return here ? static_cast<float>(column + 16 * (n % 4)) : 0.0f;
            };
            const u32 n = 2 * (lane % 4);
            if (half_result) {
              QCOMPARE(o.words[2 * lane],
                       u32{narrow<f16>(expected(n + 1)).bits} << 16 | narrow<f16>(expected(n)).bits);
              QCOMPARE(o.words[2 * lane + 1], 0u);
            } else {
              QCOMPARE(o.words[2 * lane], bits_of(expected(n)));
              QCOMPARE(o.words[2 * lane + 1], bits_of(expected(n + 1)));
            }
          }
        }
      }
    }
  }

  // tf32: a0 (g, t), a1 (g+8, t), a2 (g, t+4), a3 (g+8, t+4); b0 (t, g), b1 (t+4, g).
  void mma_of_tf32_takes_each_element_from_its_place() {
    for (int reg = 0; reg < 4; ++reg) {
      std::string body =
          "mov.u32 %r0, 0; mov.u32 %r1, 0; mov.u32 %r2, 0; mov.u32 %r3, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;\n"
          "mov.u32 %r8, 0; mov.u32 %r9, 0; setp.eq.u32 %p, %t, 13;\n@%p mov.u32 %r" +
          std::to_string(reg) + ", 0x3f800000;\n" +
          "and.b32 %x, %t, 3; shr.u32 %y, %t, 2; shl.b32 %y, %y, 4; add.u32 %x, %x, %y;\n"
          "cvt.rn.f32.u32 %r4, %x; add.f32 %r5, %r4, 0f40800000;\n"
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%r6, %r7, %r8, %r9}, {%r0, %r1, %r2, %r3}, "
          "{%r4, %r5}, {%r6, %r7, %r8, %r9};\n";
      body += reg % 2 == 0 ? "mov.u32 %d, %r6; mov.u32 %f, %r7;" : "mov.u32 %d, %r8; mov.u32 %f, %r9;";
      const Outcome o = warp_of(body).run();
      QCOMPARE(o.complaint, std::string());
      const u32 column = 13 % 4 + (reg >= 2 ? 4 : 0);
      for (u32 lane = 0; lane < 32; ++lane) {
        for (u32 n = 0; n < 2; ++n) {
          const float expected =
              lane / 4 == 13 / 4 ? static_cast<float>(column + 16 * (2 * (lane % 4) + n)) : 0.0f;
          QCOMPARE(o.words[2 * lane + n], bits_of(expected));
        }
      }
    }
  }

  void barriers_of_the_block_order_warps() {
    Snippet s;
    s.block = {96, 1, 1};
    s.body = R"(.shared .align 4 .b8 words[384];
mov.u32 %r0, words; shl.b32 %r1, %t, 2; add.u32 %r1, %r0, %r1; st.shared.u32 [%r1], %t;
bar.sync 0;
mov.u32 %r2, 95; sub.u32 %r2, %r2, %t; shl.b32 %r2, %r2, 2; add.u32 %r2, %r0, %r2; ld.shared.u32 %d, [%r2];
setp.lt.u32 %p, %t, 40; barrier.sync.aligned 1; bar.red.popc.u32 %f, 0, %p;)";
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      s.options.seed = seed;
      const Outcome o = s.run();
      QCOMPARE(o.complaint, std::string());
      for (u32 t = 0; t < 96; ++t) {
        QCOMPARE(o.words[2 * t], 95 - t);
        QCOMPARE(o.words[2 * t + 1], 40u);
      }
    }
  }

  void a_named_barrier_has_producers_and_consumers() {
    Snippet s;
    s.block = {64, 1, 1};
    s.body = R"(.shared .align 4 .b8 words[128];
mov.u32 %r0, words; and.b32 %r1, %t, 31; shl.b32 %r1, %r1, 2; add.u32 %r1, %r0, %r1;
setp.lt.u32 %p, %t, 32; @%p bra produce;
bar.sync 3, 64; ld.shared.u32 %d, [%r1]; bra end;
produce: st.shared.u32 [%r1], %t; bar.arrive 3, 64;
end:)";
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
      s.options.seed = seed;
      const Outcome o = s.run();
      QCOMPARE(o.complaint, std::string());
      for (u32 t = 32; t < 64; ++t) QCOMPARE(o.words[2 * t], t - 32);
    }
  }

  void a_warp_that_exits_does_not_stop_a_barrier() {
    Snippet s;
    s.block = {64, 1, 1};
    s.body = "setp.ge.u32 %p, %t, 32; @%p exit; bar.sync 0; mov.u32 %d, 1;";
    QCOMPARE(s.run().complaint, std::string());
  }

  void atomics_of_all_threads_add_up() {
    Snippet s;
    s.block = {64, 1, 1};
    s.grid = {3, 1, 1};
    s.before =
        ".global .align 4 .u32 counter = 0;\n.global .align 4 .f32 total = 0f00000000;\n.global .align 4 "
        ".u32 lock = 0;";
    s.body = R"(atom.global.add.u32 %d, [counter], 2; red.global.add.f32 [total], 0f3F000000;
atom.global.max.u32 %r0, [lock], %t; atom.global.cas.b32 %r1, [lock], 63, 64; atom.global.exch.b32 %f, [lock], 5;)";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    std::vector<u32> seen;
    for (u32 t = 0; t < 192; ++t) seen.push_back(o.words[2 * t]);
    std::sort(seen.begin(), seen.end());
    for (u32 t = 0; t < 192; ++t) QCOMPARE(seen[t], 2 * t);
  }

  void copies_arrive_when_they_are_waited_for() {
    Snippet s = warp_of(R"(.shared .align 16 .b8 words[1024];
mov.u32 %r0, words; shl.b32 %r1, %t, 4; add.u32 %r0, %r0, %r1;
cp.async.cg.shared.global [%r0], [%mine], 16; cp.async.commit_group;
cp.async.ca.shared.global [%r0+512], [%mine], 16, 4; cp.async.commit_group;
cp.async.wait_group 1; ld.shared.u32 %d, [%r0+12];
cp.async.wait_all; ld.shared.v2.u32 {%r2, %r3}, [%r0+512]; add.u32 %f, %r2, %r3;)");
    s.input = {1, 2, 3, 4};
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    QCOMPARE(o.words[0], 4u);
    QCOMPARE(o.words[1], 1u);
  }
  void a_copy_of_nothing_reads_nothing_and_leaves_zeros() {
    Snippet s = warp_of(R"(.shared .align 16 .b8 words[512];
mov.u32 %r0, words; shl.b32 %r1, %t, 4; add.u32 %r0, %r0, %r1;
cp.async.cg.shared.global [%r0], [%in+65536], 16, 0; cp.async.wait_all;
ld.shared.u32 %d, [%r0+12]; ld.shared.u32 %f, [%r0];)");
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    QCOMPARE(o.words[0], 0u);
    QCOMPARE(o.words[1], 0u);
  }
};

QTEST_GUILESS_MAIN(TestInterpreterWarp)
#include "test_interpreter_warp.moc"
