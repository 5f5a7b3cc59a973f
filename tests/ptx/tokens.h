// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lorikeet::ptx {

struct Token {
  std::string_view text;  ///< a word, one character of punctuation, or a string with its quotes
  int line = 0;
  bool word = false;
};

/// Cuts PTX text into tokens; comments are left out, and so are the directives that end with their line
/// (.version, .address_size, .file, .loc), while ".target" is kept. The last token is empty.
std::vector<Token> tokenize(std::string_view text);

/// Error of a place in the text.
[[noreturn]] void fail_at(int line, std::string_view text, const std::string& what);

}  // namespace lorikeet::ptx
