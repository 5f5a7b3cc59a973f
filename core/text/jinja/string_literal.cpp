// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/string_literal.h"

#include <charconv>
#include <cstdint>

#include "core/base/utf8.h"

namespace lorikeet::jinja {
namespace {

/// Reads up to `most` digits; false when there are fewer than `least`.
bool read_digits(std::string_view text, std::size_t least, std::size_t most, int base, std::size_t& used,
                 std::uint32_t& value) {
  const std::string_view digits = text.substr(0, most);
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  used = static_cast<std::size_t>(result.ptr - digits.data());
  return result.ec == std::errc{} && used >= least;
}

/// At the character after a backslash; moves `at` past the escape.
bool decode_escape(std::string_view written, std::size_t& at, std::string& text) {
  constexpr std::string_view from = "\\'\"abfnrtv", to = "\\'\"\a\b\f\n\r\t\v";
  const char kind = written[at];
  if (const std::size_t known = from.find(kind); known != std::string_view::npos) {
    text.push_back(to[known]);
    ++at;
    return true;
  }
  if (kind == '\n') {
    ++at;
    return true;
  }
  std::size_t used = 0, skip = 1;
  std::uint32_t value = 0;
  if (kind >= '0' && kind <= '7') {
    skip = 0;
    if (!read_digits(written.substr(at), 1, 3, 8, used, value)) return false;
  } else if (kind == 'x' || kind == 'u' || kind == 'U') {
    const std::size_t digits = kind == 'x' ? 2 : kind == 'u' ? 4 : 8;
    if (!read_digits(written.substr(at + 1), digits, digits, 16, used, value)) return false;
  } else if (kind == 'N') {
    return false;
  } else {
    text.push_back('\\');
    return true;
  }
  if (value > 0x10FFFF || (value >= 0xD800 && value < 0xE000)) return false;
  append_utf8(text, value);
  at += skip + used;
  return true;
}

}  // namespace

bool decode_string_literal(std::string_view written, std::string& text) {
  text.clear();
  for (std::size_t at = 0; at < written.size();) {
    if (written[at] != '\\') {
      text.push_back(written[at++]);
    } else if (++at == written.size() || !decode_escape(written, at, text)) {
      return false;
    }
  }
  return true;
}

}  // namespace lorikeet::jinja
