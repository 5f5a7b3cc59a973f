// SPDX-License-Identifier: Apache-2.0
#include "core/text/unicode.h"

#include <utf8proc.h>

#include "core/base/utf8.h"

namespace lorikeet {
namespace {

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

/// Length that a lead byte announces, 0 when it cannot begin a sequence.
std::size_t announced_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

/// Bounds of the second byte: they rule out overlong forms, surrogates and what lies beyond U+10FFFF.
bool second_fits(unsigned lead, unsigned byte) {
  if (lead == 0xE0) return byte >= 0xA0 && byte <= 0xBF;
  if (lead == 0xED) return byte >= 0x80 && byte <= 0x9F;
  if (lead == 0xF0) return byte >= 0x90 && byte <= 0xBF;
  if (lead == 0xF4) return byte >= 0x80 && byte <= 0x8F;
  return byte >= 0x80 && byte <= 0xBF;
}

/// Bytes of the broken character that `text` begins with.
std::size_t broken_length(std::string_view text) {
  const unsigned lead = byte_at(text, 0);
  const std::size_t length = announced_length(lead);
  std::size_t good = 1;
  while (good < length && good < text.size()) {
    const unsigned byte = byte_at(text, good);
    if (good == 1 ? !second_fits(lead, byte) : (byte & 0xC0) != 0x80) break;
    ++good;
  }
  return good;
}

int category(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

}  // namespace

bool is_valid_utf8(std::string_view text) {
  return valid_utf8_prefix(text) == text.size();
}

std::string replace_invalid_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t good = valid_utf8_prefix(text);
    out.append(text, 0, good);
    text.remove_prefix(good);
    if (text.empty()) break;
    out += "\xEF\xBF\xBD";
    text.remove_prefix(broken_length(text));
  }
  return out;
}

Utf8Char utf8_at(std::string_view valid, std::size_t at) {
  const unsigned lead = byte_at(valid, at);
  if (lead < 0x80) return {static_cast<char32_t>(lead), 1};
  const auto tail = [&](std::size_t offset) { return byte_at(valid, at + offset) & 0x3Fu; };
  if (lead < 0xE0) return {static_cast<char32_t>((lead & 0x1Fu) << 6 | tail(1)), 2};
  if (lead < 0xF0) return {static_cast<char32_t>((lead & 0x0Fu) << 12 | tail(1) << 6 | tail(2)), 3};
  return {static_cast<char32_t>((lead & 0x07u) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3)), 4};
}

Utf8Char utf8_before(std::string_view valid, std::size_t end) {
  std::size_t at = end - 1;
  while (at > 0 && (byte_at(valid, at) & 0xC0) == 0x80) --at;
  return utf8_at(valid, at);
}

bool is_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 9 && code <= 13);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) ||
         code == 0x2028 || code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_numeric(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  const int kind = category(code);
  return kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t code) {
  if (code < 0x80) {
    return (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) ||
           (code >= 123 && code <= 126);
  }
  const int kind = category(code);
  return kind >= UTF8PROC_CATEGORY_PC && kind <= UTF8PROC_CATEGORY_PO;
}

bool is_mark(char32_t code) {
  const int kind = category(code);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_ME;
}

bool is_word(char32_t code) {
  const int kind = category(code);
  return (kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_ND) || kind == UTF8PROC_CATEGORY_PC;
}

}  // namespace lorikeet
