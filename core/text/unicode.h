// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorikeet {

/// A code point and the bytes it takes.
struct Utf8Char {
  char32_t code;
  std::size_t bytes;
};

bool is_valid_utf8(std::string_view text);
/// Each broken sequence becomes one U+FFFD: the longest part that could have begun a character, at least a
/// byte (the Unicode standard's recommended practice).
std::string replace_invalid_utf8(std::string_view text);

/// The character at `at` of valid UTF-8.
Utf8Char utf8_at(std::string_view valid, std::size_t at);
/// The last character before `end` of valid UTF-8; `end` > 0.
Utf8Char utf8_before(std::string_view valid, std::size_t end);

/// Unicode property White_Space (U+180E is not one).
bool is_space(char32_t code);
/// Unicode general category N (Nd, Nl, No).
bool is_numeric(char32_t code);
/// Unicode general category P, or an ASCII punctuation mark or symbol.
bool is_punctuation(char32_t code);
/// Unicode general category M.
bool is_mark(char32_t code);
/// What regular expressions call a word character: letters, marks, decimal digits, connectors.
bool is_word(char32_t code);

}  // namespace lorikeet
