// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/characters.h"

#include <utf8proc.h>

#include "core/base/utf8.h"

namespace lorikeet::jinja {
namespace {

utf8proc_category_t category(std::uint32_t code_point) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code_point));
}

bool begins_word(std::uint32_t before) {
  return is_python_space(before) || before == '-' || before == '(' || before == '{' || before == '[' ||
         before == '<';
}

}  // namespace

bool is_python_space(std::uint32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

bool is_printable(std::uint32_t c) {
  if (c == ' ') return true;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

bool is_letter(std::uint32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}
bool is_digit(std::uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_ND;
}
bool is_upper(std::uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LU;
}
bool is_lower(std::uint32_t c) {
  return category(c) == UTF8PROC_CATEGORY_LL;
}

std::int64_t count_characters(std::string_view text) {
  std::int64_t count = 0;
  for (const char c : text) count += (c & 0xC0) != 0x80;
  return count;
}

std::vector<std::size_t> character_offsets(std::string_view text) {
  std::vector<std::size_t> offsets;
  offsets.reserve(text.size() + 1);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] & 0xC0) != 0x80) offsets.push_back(i);
  }
  offsets.push_back(text.size());
  return offsets;
}

TaggedText strip(const TaggedText& text, std::string_view characters, bool left, bool right) {
  const std::string_view view = text.view();
  const auto goes = [&](std::size_t at, std::size_t& after) {
    after = at;
    const std::uint32_t code_point = next_code_point(view, after);
    if (characters.empty()) return is_python_space(code_point);
    return characters.find(view.substr(at, after - at)) != std::string_view::npos;
  };
  std::size_t begin = 0, end = view.size(), after = 0;
  while (left && begin < end && goes(begin, after)) begin = after;
  while (right && end > begin) {
    std::size_t last = end - 1;
    while (last > begin && (view[last] & 0xC0) == 0x80) --last;
    if (!goes(last, after)) break;
    end = last;
  }
  return text.slice(begin, end);
}

TaggedText change_case(const TaggedText& text, LetterCase letter_case) {
  TaggedText result;
  std::string piece;
  std::uint32_t before = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const std::uint32_t c = next_code_point(text.view(), at);
    bool upper = letter_case == LetterCase::upper;
    if (letter_case == LetterCase::capitalized) upper = start == 0;
    if (letter_case == LetterCase::title) upper = start == 0 || !is_letter(before);
    if (letter_case == LetterCase::words) upper = start == 0 || begins_word(before);
    piece.clear();
    if (upper && c == 0xDF) {
      piece = letter_case == LetterCase::upper ? "SS"
                                               : "Ss";  // the one letter in common use whose capital is two
    } else {
      const auto code = static_cast<utf8proc_int32_t>(c);
      append_utf8(piece, static_cast<std::uint32_t>(upper ? utf8proc_toupper(code) : utf8proc_tolower(code)));
    }
    result.append_like(piece, text, start);
    before = c;
  }
  return result;
}

}  // namespace lorikeet::jinja
