// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tests/ptx/parser.h"
#include "tests/ptx/tokens.h"

namespace lorikeet::ptx {

/// Walks over the tokens of a module and reads the pieces that module and function scope share.
class TokenReader {
 public:
  TokenReader(std::string_view source, const std::vector<Token>& tokens) : source_(source), tokens_(tokens) {}

  bool end() const { return tokens_[at_].text.empty(); }
  int line() const { return tokens_[at_].line; }
  std::string_view peek(std::size_t ahead = 0) const;
  bool peek_is_word() const { return tokens_[at_].word; }
  std::string_view take();
  bool accept(std::string_view what);
  void expect(std::string_view what);
  [[noreturn]] void fail(const std::string& what) const;
  /// Marks the start of what fail() quotes.
  void start_statement() { start_ = at_; }
  /// The text from the start of the statement up to the next token, spaces made single.
  std::string statement_text() const;

  std::uint64_t number();  ///< an integer with its sign, decimal, octal, hexadecimal or binary
  /// ".shared .align 4 .b8 name[64] = {...}" without the semicolon; takes the word of the state space too.
  Variable variable(Space space);

 private:
  void initializer(Variable& variable);
  void initial_element(Variable& variable, std::size_t size);

  std::string_view source_;
  const std::vector<Token>& tokens_;
  std::size_t at_ = 0, start_ = 0;
};

/// The value of an integer literal; false when `word` is none.
bool parse_integer(std::string_view word, std::uint64_t& value);

/// Reads "{ ... }" into f.
void parse_body(TokenReader& in, Function& f);

}  // namespace lorikeet::ptx
