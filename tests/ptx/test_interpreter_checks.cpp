// SPDX-License-Identifier: Apache-2.0
// Every check of the interpreter fires on a small kernel, and its neighbour without the fault passes.
#include <QtTest>

#include "tests/ptx/ptx_text.h"

using namespace lorikeet::ptx;
using u32 = std::uint32_t;

namespace {

struct Fault {
  const char* name;
  std::string body;
  const char* complaint;  // a part of it
  unsigned threads = 32, blocks = 1;
  std::size_t dynamic = 0;
  int target = 80;
  std::string before = {};
};

const std::string shared_word =
    ".shared .align 16 .b8 words[1024]; mov.u32 %r0, words; shl.b32 %r1, %t, 2; add.u32 %r1, %r0, %r1;\n";

const std::vector<Fault>& faults() {
  static const std::vector<Fault> all = {
      {"beyond an allocation", "ld.global.u32 %d, [%in+512];", "outside"},
      {"before an allocation", "ld.global.u32 %d, [%in+-4];", "outside"},
      {"the host's memory", "mov.u64 %l0, 4096; ld.global.u32 %d, [%l0];", "outside"},
      {"a store beyond", "st.global.u32 [%out+256], %d;", "outside"},
      {"beyond shared memory", shared_word + "st.shared.u32 [%r0+1024], %d;", "outside shared memory"},
      {"beyond dynamic shared memory", "mov.u32 %r0, pool; st.shared.u32 [%r0+64], %d;",
       "outside shared memory", 32, 1, 64, 80, ".extern .shared .align 16 .b8 pool[];"},
      {"beyond local memory", ".local .align 4 .b8 depot[16]; mov.u64 %l0, depot; st.local.u32 [%l0+16], %d;",
       "outside local memory"},
      {"beyond a constant", "ld.const.u32 %d, [table+8];", "outside", 32, 1, 0, 80,
       ".const .align 4 .b8 table[8] = {1};"},
      {"a store to a constant", "mov.u64 %l0, table; st.global.u32 [%l0], %d;", "writes to constant memory",
       32, 1, 0, 80, ".const .align 4 .b8 table[8] = {1};"},
      {"a misaligned word", "ld.global.u32 %d, [%in+2];", "misaligned"},
      {"a misaligned vector", "ld.global.v4.u32 {%d, %f, %r0, %r1}, [%in+8];", "misaligned"},
      {"a misaligned row of ldmatrix",
       shared_word + "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d}, [%r0+8];", "misaligned"},
      {"an unwritten register", "add.u32 %d, %r5, 1;", "register that was never written"},
      {"a register written on another path", "setp.lt.u32 %p, %t, 7; @%p mov.u32 %r5, 1; add.u32 %d, %r5, 1;",
       "register that was never written"},
      {"an unwritten predicate", "@%p7 mov.u32 %d, 1;", "register that was never written"},
      {"an unwritten register, moved", "mov.u32 %r6, %r5; add.u32 %d, %r6, 1;",
       "register that was never written"},
      {"unwritten shared memory", shared_word + "ld.shared.u32 %d, [%r1];",
       "byte that was never written, shared"},
      {"unwritten local memory", ".local .align 4 .b8 depot[16]; mov.u64 %l0, depot; ld.local.u32 %d, [%l0];",
       "byte that was never written, local"},
      {"unwritten global memory", "ld.global.u32 %d, [%at];", "byte that was never written, global"},
      {"no barrier between warps",
       shared_word + "st.shared.u32 [%r1], %t; xor.b32 %r2, %t, 32; shl.b32 %r2, %r2, 2; "
                     "add.u32 %r2, %r0, %r2; ld.shared.u32 %d, [%r2];",
       "|race in shared memory|never written", 64},
      {"no barrier before the next write",
       shared_word + "st.shared.u32 [%r1], %t; bar.sync 0; xor.b32 %r2, %t, 32; shl.b32 %r2, %r2, 2; add.u32 "
                     "%r2, %r0, %r2; "
                     "ld.shared.u32 %d, [%r2]; st.shared.u32 [%r1], %d;",
       "race in shared memory", 64},
      {"no bar.warp.sync between lanes",
       shared_word + "st.shared.u32 [%r1], %t; xor.b32 %r2, %r1, 4; ld.shared.u32 %d, [%r2];",
       "race in shared memory"},
      {"a shuffle is no synchronisation of memory",
       shared_word +
           "st.shared.u32 [%r1], %t; shfl.sync.bfly.b32 %f, %t, 1, 31, 0xffffffff; xor.b32 %r2, %r1, 4; "
           "ld.shared.u32 %d, [%r2];",
       "race in shared memory"},
      {"a warp synchronisation of the wrong lanes",
       shared_word + "st.shared.u32 [%r1], %t; setp.lt.u32 %p, %t, 16; selp.u32 %r3, 0xffff, 0xffff0000, %p; "
                     "bar.warp.sync %r3; xor.b32 %r2, %r1, 64; ld.shared.u32 %d, [%r2];",
       "race in shared memory"},
      {"two lanes write one word", shared_word + "st.shared.u32 [%r0], %t;", "race in shared memory"},
      {"bytes of one word", shared_word + "st.shared.u8 [%r0], %t;", "race in shared memory"},
      {"an atomic and a plain read",
       shared_word +
           "setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [%r0], 0; bar.sync 0; atom.shared.add.u32 %d, [%r0], 1; "
           "ld.shared.u32 %f, [%r0];",
       "race in shared memory", 64},
      {"blocks write one word", "mov.u32 %d, %ctaid.x; st.global.u32 [%out], %d;", "race between blocks", 1,
       2},
      {"a block reads what another writes", "st.global.u32 [%at], 1; ld.global.u32 %d, [%out];",
       "|race between blocks|never", 1, 2},
      {"an atomic and a plain write of two blocks",
       "mov.u32 %r0, %ctaid.x; setp.eq.u32 %p, %r0, 0; @%p st.global.u32 [word], 5; @!%p red.global.add.u32 "
       "[word], 1;",
       "race between blocks", 1, 2, 0, 80, ".global .align 4 .u32 word = 0;"},
      {"cp.async not waited for",
       shared_word +
           "shl.b32 %r1, %t, 4; add.u32 %r1, %r0, %r1; cp.async.ca.shared.global [%r1], [%mine], 16; "
           "cp.async.commit_group; cp.async.wait_group 1; ld.shared.u32 %d, [%r1];",
       "cp.async has not been waited for"},
      {"cp.async waited for by its own thread only",
       shared_word +
           "shl.b32 %r1, %t, 4; add.u32 %r1, %r0, %r1; cp.async.cg.shared.global [%r1], [%mine], 16; "
           "cp.async.wait_all; xor.b32 %r1, %r1, 16; ld.shared.u32 %d, [%r1];",
       "race in shared memory"},
      {"cp.async into what others still read",
       shared_word + "st.shared.u32 [%r1], 5; bar.sync 0; ld.shared.u32 %d, [%r0]; shl.b32 %r1, %t, 4; "
                     "add.u32 %r1, %r0, "
                     "%r1; cp.async.cg.shared.global [%r1], [%mine], 16; cp.async.wait_all;",
       "race in shared memory"},
      {"cp.async from a misaligned place", shared_word + "cp.async.cg.shared.global [%r0], [%in+4], 16;",
       "cp.async from a misaligned address"},
      {"cp.async of nothing from a misaligned place",
       shared_word + "cp.async.cg.shared.global [%r0], [%in+4], 16, 0;",
       "cp.async from a misaligned address"},
      {"cp.async of nothing to a misaligned place",
       shared_word + "cp.async.cg.shared.global [%r0+8], [%in], 16, 0;", "misaligned access"},
      {"cp.async from beyond", shared_word + "cp.async.cg.shared.global [%r0], [%in+512], 16;", "outside"},
      {"a barrier some lanes skip",
       "setp.lt.u32 %p, %t, 7; @%p bra end; bar.sync 0; end: bar.warp.sync 0xffffffff;",
       "deadlock: lanes 0xffffff80 wait here for lanes of 0x0000007f, which wait at PTX line"},
      {"a barrier another warp skips", "setp.lt.u32 %p, %t, 32; @%p bra end; bar.sync 0; end: bar.sync 1;",
       "deadlock", 64},
      {"two barriers of one number",
       "setp.lt.u32 %p, %t, 32; @%p bra low; bar.sync 0; bra end; low: bar.sync 0; end:",
       "a barrier not all reach", 64},
      {"a shuffle some lanes of the mask skip",
       "setp.lt.u32 %p, %t, 7; @%p bra other; shfl.sync.bfly.b32 %d, %t, 1, 31, 0xffffffff; bra end;\n"
       "other: shfl.sync.bfly.b32 %d, %t, 1, 31, 0xffffffff; end:",
       "deadlock"},
      {"a lane outside its own mask", "shfl.sync.bfly.b32 %d, %t, 1, 31, 0xffff;",
       "not in its own member mask"},
      {"a shuffle from a lane that has exited",
       "setp.eq.u32 %p, %t, 3; @%p exit; shfl.sync.bfly.b32 %d, %t, 1, 31, 0xffffffff;",
       "does not take part"},
      {"mma without all lanes",
       "setp.eq.u32 %p, %t, 3; @%p exit; mov.u32 %r0, 0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%d}, "
       "[%r0];",
       "without all lanes"},
      {"a trap", "setp.eq.u32 %p, %t, 3; @%p trap;", "trap"},
      {"too many threads", "", "the launch is refused", 1056},
      {"too much shared memory", "", "more shared memory than sm_75 has", 32, 1, 65 * 1024, 75},
      {"too much static shared memory", ".shared .align 4 .b8 much[49156]; mov.u32 %d, much;",
       "static shared memory"},
  };
  return all;
}

const std::vector<std::pair<const char*, const char*>>& refused() {
  static const std::vector<std::pair<const char*, const char*>> all = {
      {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%d}, %l0, %l0, 1, 1, 1, 0, 0;",
       "unknown instruction wgmma"},
      {"add.frobnicate.s32 %d, %a, %b;", "unknown modifier .frobnicate"},
      {"add.s24 %d, %a, %b;", "no type"},
      {"ld.global.e4m3 %d, [%in];", "no type"},
      {"add.s32 %d, %a;", "number of operands"},
      {"add.s32 %d, %a, %nothing;", "unknown special register"},
      {"add.s32 %d, %a, %l0;", "another size"},
      {"mov.u32 %d, nothing;", "unknown name nothing"},
      {"bra nowhere;", "no label nowhere"},
      {"call nothing;", "unknown function nothing"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%d,%f,%a,%b}, {%d,%f,%a,%b}, {%d,%f}, "
       "{%d,%f,%a,%b};",
       "missing or unknown"},
      {"tex.2d.v4.f32.f32 {%d, %f, %a, %b}, [%l0, {%a, %b}];", ""},
      {".reg .b128 %wide;", "not known"},
      {"@%a add.s32 %d, %a, %b;", "no predicate"},
      {"st.global.u32 [%in;", ""},
      {"{{{", ""},
      {"mov.u32 %d, {%a, {%b, {%c, {%e, {%a}}}}};", "nested"},
      {"ld.const.u32 %d, [%in", ""},
      {"}} .entry", ""},
      {"\"", "without an end"},
      {".shared .align 3 .b8 x[4];", "alignment"},
      {".reg .b32 %z<99999999>;", "too many registers"},
      {".local .align 4 .b8 x[99999999];", "too much local memory"},
  };
  return all;
}

bool contains_one_of(const std::string& text, const std::string& words) {
  if (words[0] != '|') return text.find(words) != std::string::npos;
  for (const QString& word : QString::fromStdString(words).split('|', Qt::SkipEmptyParts)) {
    if (text.find(word.toStdString()) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

class TestInterpreterChecks : public QObject {
  Q_OBJECT
 private slots:
  void a_fault_is_named_data() {
    QTest::addColumn<int>("row");
    for (std::size_t n = 0; n < faults().size(); ++n) QTest::newRow(faults()[n].name) << static_cast<int>(n);
  }
  void a_fault_is_named() {
    QFETCH(int, row);
    const Fault& fault = faults()[static_cast<std::size_t>(row)];
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Snippet s;
      s.body = fault.body;
      s.before = fault.before;
      s.block = {fault.threads, 1, 1};
      s.grid = {fault.blocks, 1, 1};
      s.dynamic_shared = fault.dynamic;
      s.target = fault.target;
      s.options.seed = seed;
      const Outcome o = s.run();
      QVERIFY2(contains_one_of(o.complaint, fault.complaint), o.complaint.c_str());
      QVERIFY2(o.complaint.find("snippet") != std::string::npos, o.complaint.c_str());
      if (o.complaint.find("refused") == std::string::npos) {
        for (const char* part : {"block (", "thread (", "PTX line "}) {
          QVERIFY2(o.complaint.find(part) != std::string::npos, o.complaint.c_str());
        }
      }
    }
  }

  void a_message_names_thread_line_and_text() {
    Snippet s;
    s.block = {8, 4, 1};
    s.grid = {3, 1, 1};
    s.body =
        R"(mov.u32 %r0, %ctaid.x; mov.u32 %r1, %laneid; setp.eq.u32 %p, %r0, 2; setp.eq.and.u32 %p, %r1, 21, %p;
@%p ld.global.u32 %d, [%in+4096];)";
    // Threads of the block's other rows use the same places: only the message is of interest.
    const Outcome o = s.run();
    QVERIFY2(o.complaint.find(
                 "snippet, block (2,0,0), thread (5,2,0), PTX line 28, \"@%p ld.global.u32 %d, [%in+4096]\": "
                 "access of 4 bytes outside: ") != std::string::npos,
             o.complaint.c_str());
  }

  void what_is_ordered_is_no_race_data() {
    QTest::addColumn<QString>("body");
    const QString shared = QString::fromStdString(shared_word);
    QTest::newRow("bar.warp.sync")
        << shared +
               "st.shared.u32 [%r1], %t; bar.warp.sync 0xffffffff; xor.b32 %r2, %r1, 4; "
               "ld.shared.u32 %d, [%r2]; bar.warp.sync -1; st.shared.u32 [%r1], 1;";
    QTest::newRow("pairs of lanes")
        << shared +
               "st.shared.u32 [%r1], %t; setp.lt.u32 %p, %t, 16; selp.u32 %r3, 0xffff, "
               "0xffff0000, %p; mov.u32 %r4, %t; and.b32 %r4, %r4, 63; bar.warp.sync -1; "
               "xor.b32 %r2, %r1, 4; ld.shared.u32 %d, [%r2]; bar.warp.sync -1; "
               "st.shared.u32 [%r1], 2;";
    QTest::newRow("halves of a warp")
        << shared +
               "shr.u32 %r4, %t, 4; and.b32 %r4, %r4, 1; setp.eq.u32 %p, %r4, 0; "
               "selp.u32 %r3, 0xffff, 0xffff0000, %p; st.shared.u32 [%r1], %t; "
               "bar.warp.sync %r3; xor.b32 %r2, %r1, 32; ld.shared.u32 %d, [%r2]; "
               "bar.warp.sync %r3; st.shared.u32 [%r2], 7;";
    QTest::newRow("one value by all")
        << shared + "st.shared.u32 [%r0], 3; bar.sync 0; ld.shared.u32 %d, [%r0];";
    QTest::newRow("bytes of one word by neighbours")
        << shared +
               "add.u32 %r3, %r0, %t; st.shared.u8 [%r3], 1; bar.sync 0; "
               "and.b32 %r4, %t, -4; add.u32 %r3, %r0, %r4; "
               "ld.shared.u32 %d, [%r3];";
    QTest::newRow("many barriers")
        << shared +
               "mov.u32 %r5, 0; loop: st.shared.u32 [%r1], %r5; bar.sync 0; "
               "xor.b32 %r2, %r1, 128; ld.shared.u32 %d, [%r2]; ld.shared.u32 %f, [%r0]; "
               "bar.sync 0; add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, 5; @%p bra loop;";
    QTest::newRow("atomics") << shared +
                                    "setp.eq.u32 %p, %t, 0; @%p st.shared.u32 [%r0], 0; bar.sync 0; "
                                    "red.shared.add.u32 [%r0], 1; bar.sync 0; ld.shared.u32 %d, [%r0];";
  }
  void what_is_ordered_is_no_race() {
    QFETCH(QString, body);
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      Snippet s;
      s.block = {64, 1, 1};
      s.body = body.toStdString();
      s.options.seed = seed;
      QCOMPARE(s.run().complaint, std::string());
    }
  }

  void what_is_unknown_is_refused_by_name_data() {
    QTest::addColumn<int>("row");
    for (std::size_t n = 0; n < refused().size(); ++n)
      QTest::newRow(refused()[n].first) << static_cast<int>(n);
  }
  void what_is_unknown_is_refused_by_name() {
    QFETCH(int, row);
    Snippet s;
    s.body = refused()[static_cast<std::size_t>(row)].first;
    const Outcome o = s.run();
    const char* part = refused()[static_cast<std::size_t>(row)].second;
    QVERIFY2(!o.complaint.empty() && o.complaint.find(part) != std::string::npos, o.complaint.c_str());
  }

  // Any prefix of a module, and any with one byte changed, is an error or a module, never a crash.
  void broken_text_is_an_error_and_no_crash() {
    Snippet s;
    s.before =
        ".const .align 4 .b8 table[8] = {1, 2, 3};\n.func (.param .b32 r) f(.param .b32 v)\n{ ret; }\n";
    s.body =
        "ld.const.u32 %d, [table+4]; mov.b64 {%r0, %r1}, %la; @%p0 bra end; shfl.sync.idx.b32 %d|%p, %d, 0, "
        "31, -1;\nend:";
    const std::string text = s.text();
    int refused_count = 0;
    const auto attempt = [&](const std::string& broken) {
      try {
        Module module(broken, "broken");
      } catch (const std::exception&) {
        ++refused_count;
      }
    };
    for (std::size_t length = 0; length < text.size(); length += 3) attempt(text.substr(0, length));
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char c : {'{', '}', ';', '"', '[', '%', '9', '\0'}) {
        std::string broken = text;
        broken[at] = c;
        attempt(broken);
      }
    }
    QVERIFY(refused_count > 1000);
  }
};

QTEST_GUILESS_MAIN(TestInterpreterChecks)
#include "test_interpreter_checks.moc"
