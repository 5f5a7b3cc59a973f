// SPDX-License-Identifier: Apache-2.0
// Little programs: memory spaces, calls, divergence, parameters, counting.
#include <QtTest>
#include <cstring>

#include "tests/ptx/ptx_text.h"

using namespace lorikeet::ptx;
using u32 = std::uint32_t;

class TestInterpreterPrograms : public QObject {
  Q_OBJECT
 private slots:
  void variables_have_their_initial_values() {
    Snippet s;
    s.before = R"(.const .align 4 .b8 table[8] = {1, 2, 3, 4, 5};
.global .align 8 .u64 pointer[1] = {generic(table)};
.global .align 4 .u32 one_word = 7;)";
    s.body =
        "ld.const.u32 %d, [table]; ld.global.u64 %l0, [pointer]; ld.u32 %f, [%l0+4]; "
        "ld.global.u32 %r0, [one_word]; add.u32 %f, %f, %r0;";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    QCOMPARE(o.words[0], 0x04030201u);
    QCOMPARE(o.words[1], 12u);
  }

  void local_memory_belongs_to_a_thread() {
    Snippet s;
    s.block = {64, 1, 1};
    s.body = R"(.local .align 8 .b8 depot[64];
mov.u64 %l0, depot; cvta.local.u64 %l1, %l0;
st.local.u32 [%l0+8], %t; st.u32 [%l1+12], 5;
ld.local.v2.u32 {%d, %f}, [depot+8];)";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 64; ++t) QCOMPARE(o.words[2 * t], t);
    QCOMPARE(o.words[1], 5u);
  }

  void functions_are_called_also_by_a_part_of_the_lanes() {
    Snippet s;
    s.block = {32, 1, 1};
    s.before = R"(.func (.param .b32 result) twice(.param .b32 value)
{
.reg .b32 %r<4>;
ld.param.u32 %r1, [value];
add.u32 %r2, %r1, %r1;
st.param.b32 [result], %r2;
ret;
}
.func (.param .align 8 .b8 result[8]) pair(.param .align 8 .b8 value[8])
{
.reg .b32 %r<6>;
ld.param.v2.u32 {%r1, %r2}, [value];
{ .param .b32 param0; st.param.b32 [param0], %r1; .param .b32 retval0;
call.uni (retval0), twice, (param0); ld.param.b32 %r3, [retval0]; }
st.param.v2.b32 [result], {%r3, %r2};
ret;
})";
    s.body = R"(setp.lt.u32 %p, %t, 10;
@%p bra over;
{ .param .align 8 .b8 param0[8]; st.param.b32 [param0], %t; st.param.b32 [param0+4], 9;
.param .align 8 .b8 retval0[8];
call (retval0), pair, (param0);
ld.param.b32 %d, [retval0]; ld.param.b32 %f, [retval0+4]; }
over:)";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 32; ++t) {
      QCOMPARE(o.words[2 * t], t < 10 ? 0 : 2 * t);
      QCOMPARE(o.words[2 * t + 1], t < 10 ? 0u : 9u);
    }
  }

  void lanes_that_loop_for_different_times_meet_again() {
    Snippet s;
    s.block = {32, 1, 1};
    s.body = R"(loop: setp.ge.u32 %p, %d, %t; @%p bra done; add.u32 %d, %d, 1; bra loop;
done: activemask.b32 %f;)";
    const Outcome o = s.run();
    for (u32 t = 0; t < 32; ++t) {
      QCOMPARE(o.words[2 * t], t);
      QCOMPARE(o.words[2 * t + 1], 0xffffffffu);
    }
  }

  void a_branch_table_is_followed() {
    Snippet s;
    s.block = {32, 1, 1};
    s.body = R"(and.b32 %r0, %t, 1;
targets: .branchtargets even, odd;
brx.idx %r0, targets;
even: mov.u32 %d, 100; bra end;
odd: mov.u32 %d, 200;
end:)";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 32; ++t) QCOMPARE(o.words[2 * t], t % 2 == 0 ? 100u : 200u);
  }

  void structures_and_vectors_are_read_from_the_parameters() {
    const std::string text = R"(.version 9.0
.target sm_80
.visible .entry k(.param .u64 out, .param .align 16 .b8 s[32])
{
.reg .b32 %r<8>; .reg .b64 %rd<6>;
ld.param.u64 %rd1, [out];
ld.param.v2.u32 {%r1, %r2}, [s+8];
mov.b64 %rd2, s; ld.param.u32 %r3, [%rd2+16];
cvta.param.u64 %rd3, %rd2; ld.u32 %r4, [%rd3+20];
st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
ret;
})";
    const Module module(text, "m");
    const ParameterLayout& layout = parameters_of(*module.find("k"));
    QCOMPARE(layout.bytes, std::size_t{48});
    QCOMPARE(layout.offset_and_size[1].first, std::size_t{16});
    DeviceMemory memory(1 << 20);
    auto* out = static_cast<u32*>(memory.allocate(16));
    std::vector<std::byte> parameters(48);
    std::memcpy(parameters.data(), &out, 8);
    for (u32 n = 0; n < 8; ++n) std::memcpy(parameters.data() + 16 + 4 * n, &n, 4);
    run(*module.find("k"), {}, {}, 0, parameters, memory, {});
    for (u32 n = 0; n < 4; ++n) QCOMPARE(out[n], n + 2);
  }

  // Lanes spin until another lane of their warp, and another warp, has done its part.
  void spinning_lets_others_go_on() {
    Snippet s;
    s.block = {64, 1, 1};
    s.before = ".global .align 4 .u32 turn = 0;";
    s.body = R"(wait: atom.global.add.u32 %r0, [turn], 0; setp.ne.u32 %p, %r0, %t; @%p bra wait;
atom.global.add.u32 %d, [turn], 1;)";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    for (u32 t = 0; t < 64; ++t) QCOMPARE(o.words[2 * t], t);
  }

  void a_loop_without_end_is_named() {
    Snippet s;
    s.body = "wait: ld.global.u32 %r0, [%in]; setp.eq.u32 %p, %r0, 0; @%p bra wait;";
    s.options.turns_without_progress = 10;
    const Outcome o = s.run();
    QVERIFY2(o.complaint.find("loops without end") != std::string::npos, o.complaint.c_str());
  }

  void printing_does_nothing_and_a_failed_assertion_is_an_error() {
    Snippet s;
    s.before =
        R"(.extern .func (.param .b32 func_retval0) vprintf (.param .b64 vprintf_param_0, .param .b64 vprintf_param_1);
.extern .func __assertfail (.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 text[6] = {110, 32, 62, 32, 48};)";
    s.body = R"({ .param .b64 param0; st.param.b64 [param0], 0; .param .b64 param1; st.param.b64 [param1], 0;
.param .b32 retval0; call.uni (retval0), vprintf, (param0, param1); ld.param.b32 %d, [retval0]; })";
    QCOMPARE(s.run().complaint, std::string());
    s.body = R"({ .param .b64 param0; mov.u64 %l0, text; cvta.global.u64 %l0, %l0; st.param.b64 [param0], %l0;
.param .b64 param1; st.param.b64 [param1], %l0; .param .b32 param2; st.param.b32 [param2], 7;
.param .b64 param3; st.param.b64 [param3], %l0; .param .b64 param4; st.param.b64 [param4], 1;
call.uni __assertfail, (param0, param1, param2, param3, param4); })";
    const Outcome o = s.run();
    QVERIFY2(o.complaint.find("assertion failed: n > 0") != std::string::npos, o.complaint.c_str());
  }

  void sectors_are_counted_once() {
    Snippet s;
    s.block = {64, 1, 1};
    s.grid = {2, 1, 1};
    s.body = "ld.global.u32 %d, [%mine]; ld.global.u32 %f, [%mine];";
    const Outcome o = s.run();
    QCOMPARE(o.complaint, std::string());
    QCOMPARE(o.counts.sectors_read, std::uint64_t{128 * 16 / 32});
    QCOMPARE(o.counts.sectors_written, std::uint64_t{128 * 8 / 32});
  }
};

QTEST_GUILESS_MAIN(TestInterpreterPrograms)
#include "test_interpreter_programs.moc"
