// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/program.h"

namespace lorikeet::ptx {

class ProgramBuilder;

/// One statement on its way to an instruction: hands out modifiers and operands, and complains about what is
/// left over.
class Decoder {
 public:
  Decoder(ProgramBuilder& builder, const Statement& statement) : builder_(builder), statement_(statement) {
    i.statement = &statement;
    taken_.resize(statement.modifiers.size());
  }

  Instruction i;

  const Statement& statement() const { return statement_; }
  const std::vector<Operand>& operands() const { return statement_.operands; }
  [[noreturn]] void fail(const std::string& what) const;

  bool take(std::string_view modifier);                             ///< true and used up when it is there
  int take_one(std::initializer_list<std::string_view> modifiers);  ///< index of the one that is there, or -1
  int need_one(std::initializer_list<std::string_view> modifiers);  ///< fails when there is none
  Type take_type();  ///< the next one that is a type, Type::none when there is none
  Type need_type(std::initializer_list<Type> allowed = {});
  void take_hints();    ///< cache operators, eviction and prefetch hints
  void finish() const;  ///< fails on a modifier that nobody took

  void need_operands(std::size_t least, std::size_t most) const;
  Slot source(const Operand& operand, Type type);
  Slot source(std::size_t index, Type type) { return source(operand(index), type); }
  Slot destination(const Operand& operand, Type type);
  Slot destination(std::size_t index, Type type) { return destination(operand(index), type); }
  Slot constant(std::uint64_t bits, int lane_bytes);
  const Operand& operand(std::size_t index) const;
  /// Puts operands into the instruction's list, destinations first.
  void list(const std::vector<Slot>& destinations, const std::vector<Slot>& sources);
  /// The registers of {a, b, ...} or of a plain operand.
  static std::vector<Operand> elements(const Operand& operand);
  /// [base + offset] into i.a, i.offset, i.address_32, i.mode.
  void address(const Operand& operand, Slot& base);
  Type register_type(const Operand& operand) const;  ///< Type::none when it is not a register

  ProgramBuilder& builder() { return builder_; }

 private:
  ProgramBuilder& builder_;
  const Statement& statement_;
  std::vector<bool> taken_;
};

using Decode = void (*)(Decoder&);
/// nullptr for an opcode nobody knows.
Decode find_decode(std::string_view opcode);

}  // namespace lorikeet::ptx
