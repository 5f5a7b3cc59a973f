// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/jinja/format.h"
#include "core/text/jinja/syntax.h"
#include "core/text/jinja/value.h"

namespace lorikeet::jinja {

/// Variables of a block; names not found are looked for in the one around it.
struct Scope {
  std::shared_ptr<Scope> parent;
  std::vector<std::pair<std::string, Value>> variables;
};

/// Runs one template once. Templates are files from strangers: work is counted in steps (about one for each
/// node, 64 bytes of text or 4 list members that are made) and ends at a million; texts and output end at 4
/// MiB, calls of macros at a depth of 100. All failures are Error(bad_format) with the line in `where`.
class Interpreter {
 public:
  static constexpr std::int64_t max_steps = 1'000'000;
  static constexpr int max_depth = 600;
  static constexpr int max_macro_depth = 100;
  static constexpr int max_value_depth = 100;
  static constexpr std::int64_t max_value_weight = 1'000'000;
  static constexpr std::size_t max_dict_members = 256;

  explicit Interpreter(std::vector<std::pair<std::string, Value>> variables);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  void run(const Block& block);
  const TaggedText& output() const { return root_; }
  /// Byte ranges of generation blocks in output().
  const std::vector<std::pair<std::size_t, std::size_t>>& generation() const { return generation_; }

  // What functions, filters, tests and methods build on.
  void charge(std::int64_t steps);
  /// The worst that looking for a pattern in a text can cost.
  void charge_search(std::size_t text_bytes, std::size_t pattern_bytes);
  [[noreturn]] void fail(const std::string& what) const;
  std::string place() const { return "line " + std::to_string(line_); }
  Value make_text(TaggedText text);
  Value make_list(std::vector<Value> items, bool is_tuple = false);
  Value make_dict(std::vector<std::pair<Value, Value>> items);
  Value make_space(std::vector<std::pair<std::string, Value>> members);
  /// str() and repr() of a value, counted.
  TaggedText text_of(const Value& value);
  TaggedText repr_of(const Value& value);
  /// The members that a for block runs over: of a list, the keys of a dict, the characters of a text, none of
  /// an undefined value. Fails for anything else.
  std::shared_ptr<const List> iterate(const Value& value);
  std::int64_t length(const Value& value);
  bool is_equal(const Value& a, const Value& b);
  bool contains(const Value& container, const Value& item);
  /// -1, 0, 1; fails where Python does.
  int order(const Value& a, const Value& b);
  Value attribute(const Value& value, const std::string& name);
  Value item(const Value& value, const Value& key);
  Value call(const Value& callee, const Arguments& arguments);
  Value arithmetic(Operator op, const Value& a, const Value& b);

 private:
  friend class Macro;
  enum class Flow : std::uint8_t { normal, leave_loop, next_round };

  // Statements (interpreter.cpp)
  Flow execute(const Block& block);
  Flow execute(const Statement& statement);
  Flow run_if(const Statement& statement);
  Flow run_for(const Statement& statement);
  Flow run_with(const Statement& statement);
  void run_call(const Statement& statement);
  void store(const Target& target, const Value& value);
  void define(const std::string& name, Value value);
  void print(const TaggedText& text);
  TaggedText written(const Value& value, TaggedText (*form)(const Value&));
  TaggedText capture(const Block& block);
  std::shared_ptr<const Callable> make_macro(const Statement& statement);
  Value run_macro(const Statement& macro, const std::shared_ptr<Scope>& scope, const Arguments& arguments);
  std::vector<Value> filtered(const Statement& statement, const List& list);

  // Expressions (evaluate.cpp)
  Value evaluate(const Expression& expression);
  Value evaluate_node(const Expression& expression);
  Value name(const Expression& expression);
  Value literal(const Expression& expression);
  Value unary(const Expression& expression);
  Value comparison(const Expression& expression);
  bool compare_one(Operator op, const Value& a, const Value& b);
  Value concat(const Expression& expression);
  Value slice(const Expression& expression);
  Value call_expression(const Expression& expression);
  Value filter(const Expression& expression, const Value* subject);
  Arguments arguments(const Expression& expression);

  std::shared_ptr<Scope> scope_;
  TaggedText root_;
  TaggedText* out_ = &root_;
  std::vector<std::pair<std::size_t, std::size_t>> generation_;
  std::int64_t steps_ = 0;
  int depth_ = 0;
  int macro_depth_ = 0;
  int line_ = 1;
  /// Whatever can be part of a circle of references; emptied at the end.
  std::vector<std::shared_ptr<Scope>> scopes_with_macros_;
  std::vector<std::shared_ptr<Space>> spaces_;
};

/// Reads the arguments of a built-in function by position or name; fails for too many and for unknown names.
class ArgumentReader {
 public:
  ArgumentReader(Interpreter& interpreter, const char* function, const Arguments& arguments,
                 std::initializer_list<const char*> names);

  /// Null when it was not given.
  const Value* find(std::size_t index) const;
  const Value& get(std::size_t index) const;
  std::string text(std::size_t index, const char* fallback) const;
  std::int64_t integer(std::size_t index, std::int64_t fallback) const;
  bool truth(std::size_t index, bool fallback) const;

 private:
  Interpreter& interpreter_;
  const char* function_;
  const Arguments& arguments_;
  std::vector<const char*> names_;
};

}  // namespace lorikeet::jinja
