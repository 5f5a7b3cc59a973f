// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/ptx_text.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace lorikeet::ptx {

std::string Snippet::text() const {
  std::string text = ".version 9.0\n.target sm_" + std::to_string(target) + "\n.address_size 64\n" + before +
                     R"(
.visible .entry snippet(.param .u64 snippet_in, .param .u64 snippet_out)
{
.reg .pred %p, %q, %p<8>;
.reg .b16 %h<16>;
.reg .b32 %t, %a, %b, %c, %e, %d, %f, %r<32>;
.reg .b64 %in, %out, %mine, %at, %la, %lc, %l<16>;
.reg .b32 %x, %y;
ld.param.u64 %in, [snippet_in];
ld.param.u64 %out, [snippet_out];
mov.u32 %x, %ctaid.x;
mov.u32 %y, %ntid.x;
mov.u32 %t, %tid.x;
mad.lo.s32 %x, %x, %y, %t;
mul.wide.u32 %mine, %x, 16;
add.s64 %mine, %in, %mine;
mul.wide.u32 %at, %x, 8;
add.s64 %at, %out, %at;
ld.global.v4.u32 {%a, %b, %c, %e}, [%mine];
mov.b64 %la, {%a, %b};
mov.b64 %lc, {%c, %e};
mov.u32 %d, 0;
mov.u32 %f, 0;
)" + body + "\n";
  if (stores) text += "st.global.u32 [%at], %d;\nst.global.u32 [%at+4], %f;\nret;\n";
  return text + "}\n";
}

Outcome Snippet::run() const {
  Outcome outcome;
  try {
    const Module module(text(), "snippet");
    DeviceMemory memory(std::size_t{8} << 20);
    const std::size_t threads = std::size_t{grid.x} * block.x;
    const std::size_t words = output_words != 0 ? output_words : 2 * threads;
    auto* in = static_cast<std::uint32_t*>(memory.allocate(16 * threads));
    auto* out = static_cast<std::uint32_t*>(memory.allocate(4 * words));
    for (std::size_t n = 0; n < 4 * threads; ++n) in[n] = input.empty() ? 0 : input[n % input.size()];
    memory.mark_written(reinterpret_cast<std::uint64_t>(in), 16 * threads);
    std::memset(out, 0, 4 * words);
    if (!stores) memory.mark_written(reinterpret_cast<std::uint64_t>(out), 4 * words);
    std::vector<std::byte> parameters(16);
    std::memcpy(parameters.data(), &in, 8);
    std::memcpy(parameters.data() + 8, &out, 8);
    outcome.counts =
        lorikeet::ptx::run(*module.find("snippet"), grid, block, dynamic_shared, parameters, memory, options);
    outcome.words.assign(out, out + words);
  } catch (const std::runtime_error& error) {
    outcome.complaint = error.what();
  }
  return outcome;
}

}  // namespace lorikeet::ptx
