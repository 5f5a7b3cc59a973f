// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/types.h"

namespace lorikeet::ptx {

/// One operand as written.
struct Operand {
  enum class Kind : std::uint8_t {
    reg,      ///< `index` of Function::registers
    special,  ///< %tid.x and the like, `name` without the percent sign
    symbol,   ///< variable, function or label `name`, plus `bits`
    integer,  ///< `bits`
    real32,   ///< 0f...: `bits` of an f32
    real64,   ///< 0d...: `bits` of an f64
    sink,     ///< _
    vector,   ///< {a, b, ...}
    address,  ///< [parts[0] + bits]
    list,     ///< (a, b, ...) of a call
  };
  Kind kind = Kind::integer;
  std::string name;
  std::uint32_t index = 0;
  std::uint64_t bits = 0;
  bool negated = false;         ///< !a
  std::vector<Operand> parts;   ///< of vector, address and list
  std::vector<Operand> second;  ///< a|b: holds b
};

struct Statement {
  int line = 0;
  std::string text;
  bool guarded = false, guard_negated = false;
  std::uint32_t guard = 0;             ///< index of Function::registers
  std::string opcode;                  ///< up to the first dot
  std::vector<std::string> modifiers;  ///< the words between the dots after it
  std::vector<Operand> operands;
  int scope = 0;  ///< where a label is looked up
};

enum class Space : std::uint8_t { generic, global, shared, local, param, constant };

struct Variable {
  std::string name;
  Space space = Space::generic;
  Type type = Type::b8;
  std::size_t align = 1, bytes = 0;
  bool unsized = false;               ///< name[]: dynamic shared memory
  std::vector<std::uint8_t> initial;  ///< may be shorter than bytes: zeros follow
  struct Reference {
    std::size_t offset = 0;
    std::string name;
    std::uint64_t addend = 0;
  };
  std::vector<Reference> references;  ///< addresses of other variables within `initial`
  int scope = 0;                      ///< of a variable of a function body
};

struct Register {
  std::string name;
  Type type = Type::b32;
};

struct Function {
  std::string name;
  int line = 0;
  bool entry = false, defined = false;
  std::vector<Variable> parameters, results;
  std::vector<Variable> variables;  ///< .shared, .local and .param of the body
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::pair<int, std::string>, std::uint32_t> labels;     ///< (scope, name) -> statement
  std::map<std::string, std::vector<std::string>> branch_targets;  ///< of brx.idx
  std::vector<int> scope_parents{-1};
  std::uint32_t threads_at_most = 0, threads_required[3] = {0, 0, 0};

  /// Statement of a label seen from `scope`; throws when there is none.
  std::uint32_t label(const std::string& label_name, int scope) const;
};

struct ParsedModule {
  int target = 0;
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

/// Throws std::runtime_error with line and text at what it does not understand.
ParsedModule parse_module(std::string_view text);

}  // namespace lorikeet::ptx
