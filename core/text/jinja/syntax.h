// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/jinja/value.h"

namespace lorikeet::jinja {

/// How deep a template may nest, in brackets, operators and blocks.
inline constexpr int max_syntax_depth = 200;

enum class Operator : std::uint8_t {
  none,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  negate,
  plus,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in,
};

struct Expression;
using ExpressionPtr = std::unique_ptr<Expression>;

/// A node of an expression. Which members mean something depends on the kind.
struct Expression {
  enum class Kind : std::uint8_t {
    constant,     ///< constant
    name,         ///< name
    list,         ///< children
    tuple,        ///< children
    dict,         ///< children: key, value, key, value, ...
    unary,        ///< op children[0]
    binary,       ///< children[0] op children[1]
    compare,      ///< children[0] operators[0] children[1] operators[1] children[2] ...
    concat,       ///< children joined by ~
    logical_and,  ///< two children
    logical_or,   ///< two children
    logical_not,  ///< one child
    conditional,  ///< children[0] if children[1] else children[2] (may be missing)
    attribute,    ///< children[0] . name
    item,         ///< children[0] [ children[1] ]
    slice,        ///< children[0] [ children[1] : children[2] : children[3] ], each may be null
    call,         ///< children[0] ( arguments )
    filter,       ///< children[0] | name ( arguments ); children[0] may be null inside {% filter %}
    test,         ///< children[0] is name ( arguments )
  };
  Kind kind;
  Operator op = Operator::none;
  int line = 1;
  int depth = 1;
  std::string name = {};
  Value constant = {};
  std::vector<ExpressionPtr> children = {};
  std::vector<Operator> operators = {};
  std::vector<ExpressionPtr> arguments = {};
  std::vector<std::pair<std::string, ExpressionPtr>> keywords = {};
};

/// What {% set %} and {% for %} store into: a name, a member of a namespace, or several of them.
struct Target {
  std::string name;
  std::string member;         ///< of the namespace `name`, "" = the name itself
  std::vector<Target> parts;  ///< not empty: a tuple is taken apart
};

struct Statement;
using Block = std::vector<Statement>;

struct Parameter {
  std::string name;
  ExpressionPtr default_value;  ///< null when there is none
};

struct Statement {
  enum class Kind : std::uint8_t {
    data,          ///< text
    output,        ///< expression
    if_block,      ///< branches in order, an else has no condition
    for_block,     ///< target in expression [if condition]: body, otherwise
    set,           ///< target = expression
    set_block,     ///< target = body, through the filters of expression (may be null)
    macro,         ///< name (parameters): body
    call_block,    ///< expression is the call, body with parameters is caller()
    filter_block,  ///< body through expression
    with_block,    ///< assignments, body
    generation,    ///< body
    break_loop,
    continue_loop,
  };
  Kind kind;
  int line = 1;
  std::string text = {};
  std::string name = {};
  Target target = {};
  ExpressionPtr expression = {};
  ExpressionPtr condition = {};
  std::vector<std::pair<ExpressionPtr, Block>> branches = {};
  std::vector<std::pair<Target, ExpressionPtr>> assignments = {};
  std::vector<Parameter> parameters = {};
  Block body = {};
  Block otherwise = {};
};

}  // namespace lorikeet::jinja
