// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::jinja {

enum class TokenKind : std::uint8_t {
  data,         ///< text outside of tags
  block_begin,  ///< {%
  block_end,
  output_begin,  ///< {{
  output_end,
  name,
  string,  ///< text = the decoded string
  integer,
  real,
  symbol,  ///< operators and brackets
  end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  int line = 1;
};

/// Splits a template into tokens as Jinja 3.1 does with trim_blocks and lstrip_blocks on and
/// keep_trailing_newline off: line ends become \n, one line end at the very end goes away, so does the one
/// after a block or comment and the white space before a block that begins a line; {%- and -%} strip all
/// white space, {%+ and +%} keep it. Comments leave no token and {% raw %} becomes data. Throws
/// Error(bad_format) with the line.
std::vector<Token> tokenise_template(std::string_view source);

}  // namespace lorikeet::jinja
