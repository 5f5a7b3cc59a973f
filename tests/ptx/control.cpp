// SPDX-License-Identifier: Apache-2.0
// PTX ISA: control flow, barriers of the block, fences; the table of all opcodes.
#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "tests/ptx/arith.h"
#include "tests/ptx/builder.h"
#include "tests/ptx/memory.h"

namespace lorikeet::ptx {

namespace {

void nothing(Warp&, const Instruction&, std::uint32_t) {}

[[noreturn]] void run_trap(Warp&, const Instruction&, std::uint32_t mask) {
  throw Fault{static_cast<std::uint32_t>(std::countr_zero(mask)), "trap"};
}

/// Text at a generic address, for the message of a failed assertion.
std::string text_at(const Launch& launch, std::uint64_t address) {
  for (const auto& [name, v] : *launch.program.variables) {
    if (address < v.address || address >= v.address + v.bytes) continue;
    const char* from = reinterpret_cast<const char*>(address);
    const char* end = reinterpret_cast<const char*>(v.address + v.bytes);
    return {from, std::find(from, end, '\0')};
  }
  return "?";
}

/// __assertfail(message, file, line, function, char_size): i.offset is where the first parameter lies.
void run_assert(Warp& w, const Instruction& i, std::uint32_t mask) {
  const auto lane = static_cast<std::uint32_t>(std::countr_zero(mask));
  const auto* parameter = reinterpret_cast<const std::uint64_t*>(
      w.lane_memory.data() + lane * w.block.launch.program.lane_bytes + i.offset);
  throw Fault{lane, "assertion failed: " + text_at(w.block.launch, *parameter)};
}

/// printf: nothing is printed, and 0 returned, in the 4 bytes at i.offset.
void run_print(Warp& w, const Instruction& i, std::uint32_t mask) {
  for_each_lane(mask, [&](std::uint32_t lane) {
    const std::size_t at = lane * w.block.launch.program.lane_bytes + static_cast<std::size_t>(i.offset);
    std::fill_n(w.lane_memory.begin() + static_cast<std::ptrdiff_t>(at), 4, std::byte{0});
    std::fill_n(w.lane_written.begin() + static_cast<std::ptrdiff_t>(at), 4, std::uint8_t{1});
  });
}

std::vector<ProgramBuilder::Symbol> parameter_symbols(Decoder& d, const Operand* list) {
  std::vector<ProgramBuilder::Symbol> symbols;
  if (list == nullptr) return symbols;
  for (const Operand& o : list->parts) {
    const ProgramBuilder::Symbol symbol = d.builder().symbol(o.name, d.statement().scope);
    if (o.kind != Operand::Kind::symbol || symbol.space != Space::param || symbol.kernel_parameter) {
      d.fail("what a call passes is no .param variable");
    }
    symbols.push_back(symbol);
  }
  return symbols;
}

void call_external(Decoder& d, const std::string& name, const std::vector<ProgramBuilder::Symbol>& arguments,
                   const std::vector<ProgramBuilder::Symbol>& results) {
  if (name == "vprintf" && results.size() == 1 && results[0].bytes == 4) {
    d.i.offset = static_cast<std::int64_t>(results[0].value);
    d.i.run = run_print;
  } else if (name == "__assertfail" && !arguments.empty() && arguments[0].bytes == 8) {
    d.i.offset = static_cast<std::int64_t>(arguments[0].value);
    d.i.run = run_assert;
  } else {
    d.fail("unknown function " + name);
  }
}

}  // namespace

void decode_branch(Decoder& d) {
  d.take("uni");
  if (d.statement().opcode == "brx") {
    if (!d.take("idx")) d.fail("unknown instruction brx");
    d.need_operands(2, 2);
    d.i.flow = Flow::branch_table;
    d.i.a = d.source(0, Type::u32);
    d.i.target = d.builder().table(d.operand(1).name, d.statement().scope);
    return;
  }
  d.need_operands(1, 1);
  if (d.operand(0).kind != Operand::Kind::symbol) d.fail("a label is expected");
  d.i.flow = Flow::branch;
  d.i.target = d.builder().label(d.operand(0).name, d.statement().scope);
}

void decode_call(Decoder& d) {
  d.take("uni");
  const std::vector<Operand>& o = d.operands();
  std::size_t at = 0;
  const Operand *results = nullptr, *arguments = nullptr;
  if (at < o.size() && o[at].kind == Operand::Kind::list) results = &o[at++];
  if (at >= o.size() || o[at].kind != Operand::Kind::symbol) d.fail("calls through pointers are not known");
  const std::string& name = o[at++].name;
  if (at < o.size() && o[at].kind == Operand::Kind::list) arguments = &o[at++];
  if (at != o.size()) d.fail("calls through pointers are not known");
  const auto given = parameter_symbols(d, arguments), taken = parameter_symbols(d, results);
  const Function* f = d.builder().callee(name);
  if (f == nullptr || !f->defined) return call_external(d, name, given, taken);
  if (f->entry || f->parameters.size() != given.size() || f->results.size() != taken.size()) {
    d.fail("the call does not fit the function " + name);
  }
  CallCopies copies;
  for (std::size_t n = 0; n < given.size(); ++n) {
    if (given[n].bytes != f->parameters[n].bytes) d.fail("a parameter is of another size");
    copies.arguments.push_back({static_cast<std::uint32_t>(given[n].value),
                                d.builder().parameter_offset(*f, n, false),
                                static_cast<std::uint32_t>(given[n].bytes)});
  }
  for (std::size_t n = 0; n < taken.size(); ++n) {
    if (taken[n].bytes != f->results[n].bytes) d.fail("a result is of another size");
    copies.results.push_back({d.builder().parameter_offset(*f, n, true),
                              static_cast<std::uint32_t>(taken[n].value),
                              static_cast<std::uint32_t>(taken[n].bytes)});
  }
  d.i.flow = Flow::call;
  d.i.target = d.builder().function_start(*f);
  d.i.d = d.builder().return_address(*f);
  d.i.offset = static_cast<std::int64_t>(d.builder().program().calls.size());
  d.builder().program().calls.push_back(std::move(copies));
}

void decode_ret(Decoder& d) {
  d.take("uni");
  d.need_operands(0, 0);
  if (d.statement().opcode == "exit" || d.builder().function().entry) {
    d.i.flow = Flow::exit;
    return;
  }
  d.i.flow = Flow::ret;
  d.i.a = d.builder().return_address(d.builder().function());
}

void decode_barrier(Decoder& d) {
  const bool aligned = d.statement().opcode == "bar" || d.take("aligned");
  (void)aligned;
  d.take("cta");
  if (d.take("warp")) {
    d.take("sync");
    d.need_operands(1, 1);
    d.i.flow = Flow::converged;
    d.i.members = d.source(0, Type::b32);
    d.i.run = [](Warp& w, const Instruction&, std::uint32_t mask) { w.synchronised(mask); };
    return;
  }
  const int kind = d.need_one({"sync", "arrive", "red"});
  d.i.flow = Flow::barrier;
  if (kind < 2) {
    d.i.mode = static_cast<std::uint8_t>(kind);
    d.need_operands(kind == 1 ? 2 : 1, 2);
    d.i.a = d.source(0, Type::u32);
    if (d.operands().size() == 2) d.i.b = d.source(1, Type::u32);
    return;
  }
  d.i.mode = static_cast<std::uint8_t>(2 + d.need_one({"popc", "and", "or"}));
  const Type t = d.need_type({Type::u32, Type::pred});
  if ((t == Type::u32) != (d.i.mode == 2)) d.fail("unknown type for this instruction");
  d.need_operands(3, 4);
  d.i.d = d.destination(0, t);
  d.i.a = d.source(1, Type::u32);
  if (d.operands().size() == 4) d.i.b = d.source(2, Type::u32);
  d.i.c = d.source(d.operands().size() - 1, Type::pred);
  d.i.flag = d.operands().back().negated;
}

void decode_fence(Decoder& d) {
  // Blocks and warps run one after another here, every access is seen at once. Races are judged by barriers
  // alone.
  d.take_one({"sc", "acq_rel", "acquire", "release"});
  d.take_one({"cta", "cluster", "gl", "gpu", "sys"});
  d.take("u32");
  d.i.run = nothing;
}

void decode_trap(Decoder& d) {
  d.need_operands(0, 0);
  d.i.run = run_trap;
}

namespace {

constexpr std::pair<std::string_view, Decode> opcodes[] = {
    {"add", decode_arithmetic},
    {"sub", decode_arithmetic},
    {"mul", decode_arithmetic},
    {"mad", decode_arithmetic},
    {"div", decode_arithmetic},
    {"rem", decode_arithmetic},
    {"neg", decode_arithmetic},
    {"abs", decode_arithmetic},
    {"min", decode_arithmetic},
    {"max", decode_arithmetic},
    {"fma", decode_fma},
    {"addc", decode_carry},
    {"subc", decode_carry},
    {"madc", decode_carry},
    {"rcp", decode_approximate},
    {"rsqrt", decode_approximate},
    {"sqrt", decode_approximate},
    {"sin", decode_approximate},
    {"cos", decode_approximate},
    {"ex2", decode_approximate},
    {"lg2", decode_approximate},
    {"tanh", decode_approximate},
    {"and", decode_logic},
    {"or", decode_logic},
    {"xor", decode_logic},
    {"not", decode_logic},
    {"cnot", decode_logic},
    {"shl", decode_shift},
    {"shr", decode_shift},
    {"shf", decode_funnel_shift},
    {"bfe", decode_bits},
    {"bfi", decode_bits},
    {"bfind", decode_bits},
    {"brev", decode_bits},
    {"clz", decode_bits},
    {"popc", decode_bits},
    {"prmt", decode_bits},
    {"lop3", decode_bits},
    {"sad", decode_bits},
    {"dp4a", decode_bits},
    {"dp2a", decode_bits},
    {"setp", decode_setp},
    {"set", decode_setp},
    {"selp", decode_select},
    {"slct", decode_select},
    {"testp", decode_test},
    {"copysign", decode_test},
    {"cvt", decode_convert},
    {"cvta", decode_cvta},
    {"isspacep", decode_isspacep},
    {"mov", decode_mov},
    {"ld", decode_load},
    {"ldu", decode_load},
    {"st", decode_store},
    {"atom", decode_atomic},
    {"red", decode_atomic},
    {"prefetch", decode_prefetch},
    {"prefetchu", decode_prefetch},
    {"cp", decode_cp},
    {"bra", decode_branch},
    {"brx", decode_branch},
    {"call", decode_call},
    {"ret", decode_ret},
    {"exit", decode_ret},
    {"bar", decode_barrier},
    {"barrier", decode_barrier},
    {"membar", decode_fence},
    {"fence", decode_fence},
    {"nanosleep", decode_fence},
    {"trap", decode_trap},
    {"brkpt", decode_trap},
    {"shfl", decode_shuffle},
    {"vote", decode_vote},
    {"match", decode_match},
    {"redux", decode_redux},
    {"elect", decode_elect},
    {"activemask", decode_activemask},
    {"ldmatrix", decode_ldmatrix},
    {"stmatrix", decode_ldmatrix},
    {"mma", decode_mma},
};

}  // namespace

Decode find_decode(std::string_view opcode) {
  static const std::map<std::string_view, Decode> table(std::begin(opcodes), std::end(opcodes));
  const auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}

}  // namespace lorikeet::ptx
