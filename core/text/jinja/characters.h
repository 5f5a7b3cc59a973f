// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/text/jinja/tagged_text.h"

namespace lorikeet::jinja {

/// White space as Python's str.strip() and str.split() know it.
bool is_python_space(std::uint32_t code_point);
/// Whether Python's repr() shows a character as it is.
bool is_printable(std::uint32_t code_point);
bool is_letter(std::uint32_t code_point);
bool is_digit(std::uint32_t code_point);
bool is_upper(std::uint32_t code_point);
bool is_lower(std::uint32_t code_point);

/// Number of code points of valid UTF-8.
std::int64_t count_characters(std::string_view text);
/// Byte offset of every code point, and the size of the text as the last element.
std::vector<std::size_t> character_offsets(std::string_view text);

/// Bytes [begin, end) without white space at its ends (`characters` empty) or without any of these
/// characters. `left` and `right` say which ends.
TaggedText strip(const TaggedText& text, std::string_view characters, bool left, bool right);

enum class LetterCase : std::uint8_t {
  upper,
  lower,
  capitalized,  ///< the first letter upper, the others lower
  title,        ///< the first letter of each run of letters upper
  words,  ///< the first letter after white space, a hyphen or an opening bracket upper: the filter title
};
TaggedText change_case(const TaggedText& text, LetterCase letter_case);

}  // namespace lorikeet::jinja
