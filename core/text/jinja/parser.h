// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/text/jinja/lexer.h"
#include "core/text/jinja/syntax.h"

namespace lorikeet::jinja {

/// Reads tokens into statements: Jinja 3.1's grammar without templates that load others (extends, include,
/// import, block) and with break, continue and generation. Throws Error(bad_format) with the line.
class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}
  Block parse();

 private:
  // Statements (parser.cpp)
  Block block_until(std::initializer_list<std::string_view> ends);
  Statement statement();
  Statement if_statement();
  Statement for_statement();
  Statement set_statement();
  Statement macro_statement();
  Statement call_statement();
  Statement filter_statement();
  Statement with_statement();
  Statement loop_control(Statement::Kind kind);
  Target target(bool allow_member);
  Target single_target(bool allow_member);
  std::vector<Parameter> parameters();
  void end_block(std::string_view name);

  // Expressions (parse_expression.cpp), loosest first
  ExpressionPtr expression();
  ExpressionPtr conditional();
  ExpressionPtr disjunction();
  ExpressionPtr conjunction();
  ExpressionPtr negation();
  ExpressionPtr comparison();
  ExpressionPtr sum();
  ExpressionPtr joined();
  ExpressionPtr product();
  ExpressionPtr power();
  ExpressionPtr unary(bool with_filter);
  ExpressionPtr primary();
  ExpressionPtr postfix(ExpressionPtr subject);
  ExpressionPtr filters(ExpressionPtr subject);
  ExpressionPtr subscript(ExpressionPtr subject);
  ExpressionPtr filter(ExpressionPtr subject);
  ExpressionPtr test(ExpressionPtr subject);
  ExpressionPtr bracketed();
  ExpressionPtr list_literal();
  ExpressionPtr dict_literal();
  ExpressionPtr number_literal();
  ExpressionPtr tuple(bool with_conditional);
  void call_arguments(Expression& call);

  // Tokens
  const Token& current() const { return tokens_[at_]; }
  bool at_symbol(std::string_view symbol) const;
  bool at_name(std::string_view name) const;
  bool skip_symbol(std::string_view symbol);
  bool skip_name(std::string_view name);
  void expect_symbol(std::string_view symbol);
  void expect(TokenKind kind, std::string_view what);
  std::string expect_name();
  [[noreturn]] void fail(const std::string& what) const;
  std::string found() const;
  ExpressionPtr node(Expression::Kind kind) const;
  /// Takes a child and keeps the depth right; null stands for a missing one.
  void adopt(Expression& parent, ExpressionPtr child) const;
  void check_depth(const Expression& parent, const Expression& child) const;

  /// One level of nesting while it lives.
  class Level {
   public:
    explicit Level(Parser& parser);
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.level_; }

   private:
    Parser& parser_;
  };

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int level_ = 0;
  int loops_ = 0;  ///< for blocks around the present place
};

}  // namespace lorikeet::jinja
