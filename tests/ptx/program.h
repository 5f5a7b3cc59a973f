// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/ptx/interpreter.h"
#include "tests/ptx/parser.h"

namespace lorikeet::ptx {

class Warp;
struct Instruction;
using Handler = void (*)(Warp&, const Instruction&, std::uint32_t mask);

/// Where an operand lives. Every value is held for the 32 lanes of a warp: 32 words of 4 bytes for types of
/// up to 32 bits (upper bits zero), 32 of 8 bytes for 64-bit types, one 32-bit mask for predicates.
enum class Bank : std::uint8_t { registers, constants, specials, scratch, none };
struct Slot {
  std::uint32_t offset = 0;  ///< bytes; while a program is built: the register's number
  Bank bank = Bank::none;
};

/// What an instruction does to the order of instructions.
enum class Flow : std::uint8_t {
  next,       ///< run, then the next one
  converged,  ///< waits until the lanes of `members` are here, then as next
  branch,
  branch_table,
  call,
  ret,
  exit,
  barrier,  ///< of the block
};

struct Instruction {
  Handler run = nullptr;
  Slot d, e, a, b, c;  ///< destinations d and e, sources a, b and c; defaults are unused
  Slot guard, members;
  std::uint32_t list = 0, list_size = 0, list_destinations = 0;  ///< further operands in Program::slots
  Flow flow = Flow::next;
  Type type = Type::none, from = Type::none;
  bool guarded = false, guard_negated = false;
  bool flag = false;    ///< meaning depends on the operation
  bool copies = false;  ///< a plain move: hands on what was never written instead of complaining
  std::uint8_t width = 0, count = 1, mode = 0;
  Space space = Space::generic;
  bool address_32 = false;
  std::int64_t offset = 0;    ///< of addresses
  std::uint32_t target = 0;   ///< branch, call: instruction; branch_table: index of Program::tables
  std::uint32_t checks = 0;   ///< first of Program::checks
  bool checks_guard = false;  ///< the first check is that of the guard
  std::uint16_t uses = 0, definitions = 0;  ///< how many checks of each kind
  const Statement* statement = nullptr;
};

/// Values of Instruction::mode for the param space.
enum ParamKind : std::uint8_t { by_address, kernel_parameter, lane_parameter };

/// Parameters of a call: copies between offsets of the lanes' own memory.
struct CallCopies {
  struct Copy {
    std::uint32_t from, to, bytes;
  };
  std::vector<Copy> arguments, results;
  std::uint32_t function = 0;  ///< which return address
};

struct ModuleVariable {
  std::uint64_t address = 0;
  std::size_t bytes = 0;
  bool constant = false;
};

/// A kernel with the functions it calls, ready to run. Callees stand before their callers.
struct Program {
  std::string name;
  int target = 0;
  const std::map<std::string, ModuleVariable>* variables = nullptr;
  std::vector<Instruction> code;
  std::vector<Slot> slots;
  std::vector<std::byte> constants;
  std::vector<std::vector<std::uint32_t>> tables;
  std::vector<CallCopies> calls;
  /// Registers that might be read before they are written (every other one provably is not), by suspect
  /// number.
  std::vector<std::uint32_t> checks;
  std::uint32_t suspects = 0;
  std::uint32_t entry = 0;
  std::size_t register_bytes = 0;
  std::size_t lane_bytes = 0;     ///< local variables, then parameters of calls, per lane
  std::size_t static_shared = 0;  ///< dynamic shared memory begins here, rounded up to dynamic_align
  std::size_t dynamic_align = 16;
  ParameterLayout parameters;
  std::uint32_t threads_at_most = 0, threads_required[3] = {0, 0, 0};
  std::uint32_t functions = 0;
};

class Kernel {
 public:
  Program program;
};

/// Index of the word in the specials' area of a warp, each of 32 lanes of 4 bytes.
enum Special : std::uint32_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  lanemask_eq,
  lanemask_le,
  lanemask_lt,
  lanemask_ge,
  lanemask_gt,
  dynamic_smem_size,
  total_smem_size,
  special_zero,
  special_one,
  special_count
};

/// Decodes one entry function.
void build_program(const ParsedModule& module, const Function& entry,
                   const std::map<std::string, ModuleVariable>& variables, Program& program);

/// Finds out which registers may be read before they are written, and gives registers that do not live at the
/// same time the same place.
void place_registers(Program& program, const std::vector<std::uint32_t>& register_bytes);

/// Generic addresses of memory that is not global.
constexpr std::uint64_t shared_window = std::uint64_t{1} << 56;
constexpr std::uint64_t local_window = std::uint64_t{2} << 56;
constexpr std::uint64_t parameter_window = std::uint64_t{3} << 56;
constexpr std::uint64_t window_bytes = std::uint64_t{1} << 32;

}  // namespace lorikeet::ptx
