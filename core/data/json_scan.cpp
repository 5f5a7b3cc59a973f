// SPDX-License-Identifier: Apache-2.0
#include "core/data/json_scan.h"

#include <array>
#include <bit>
#include <cstring>

#include "core/base/utf8.h"

namespace lorikeet {
namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
bool is_digit(int c) {
  return c >= '0' && c <= '9';
}

/// The first quote, backslash or control character at or after `i`; the size of the text when there is none.
std::size_t find_special(std::string_view text, std::size_t i) {
  constexpr std::uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
  static_assert(std::endian::native == std::endian::little,
                "the lowest flagged byte must be the first in memory");
  for (; i + 8 <= text.size(); i += 8) {
    std::uint64_t v = 0;
    std::memcpy(&v, text.data() + i, sizeof v);
    const std::uint64_t quote = v ^ ones * '"', backslash = v ^ ones * '\\';
    const std::uint64_t found =
        (((quote - ones) & ~quote) | ((backslash - ones) & ~backslash) | ((v - ones * 0x20) & ~v)) & tops;
    if (found != 0) return i + static_cast<std::size_t>(std::countr_zero(found)) / 8;
  }
  for (; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c == '"' || c == '\\' || c < 0x20) return i;
  }
  return text.size();
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::uint32_t hex4(std::string_view digits) {
  std::uint32_t value = 0;
  for (const char c : digits.substr(0, 4)) value = value << 4 | static_cast<std::uint32_t>(hex_value(c));
  return value;
}

}  // namespace

void JsonScanner::skip_space() {
  while (position_ < text_.size() && is_space(text_[position_])) ++position_;
}

ScanResult JsonScanner::string(std::string_view& text, bool& escaped) {
  const std::size_t start = position_ + 1;
  escaped = false;
  std::size_t i = start;
  for (;;) {
    i = find_special(text_, i);
    if (i >= text_.size()) return ScanResult::incomplete;
    const char c = text_[i];
    if (c == '"') break;
    position_ = i;
    if (c != '\\') {
      return fail(c == '\n' || c == '\r' ? "a line break inside a text (a text must write it as \\n)"
                                         : "a control character inside a text");
    }
    escaped = true;
    if (i + 1 >= text_.size()) return ScanResult::incomplete;
    const char kind = text_[i + 1];
    if (kind == 'u') {
      for (std::size_t k = 2; k < 6; ++k) {
        if (i + k >= text_.size()) return ScanResult::incomplete;
        if (hex_value(text_[i + k]) < 0) return fail("\\u without four hex digits");
      }
      i += 6;
    } else {
      if (kind == '\0' || !std::strchr("\"\\/bfnrt", kind)) return fail("an unknown escape in a text");
      i += 2;
    }
  }
  text = text_.substr(start, i - start);
  position_ = i + 1;
  return ScanResult::complete;
}

ScanResult JsonScanner::literal(std::string_view word) {
  const std::string_view here = text_.substr(position_, word.size());
  if (here != word.substr(0, here.size())) return fail("a value was expected");
  if (here.size() < word.size()) return ScanResult::incomplete;
  position_ += word.size();
  return ScanResult::complete;
}

ScanResult JsonScanner::number() {
  const auto digits = [&] {
    const std::size_t first = position_;
    while (is_digit(peek())) ++position_;
    return position_ > first;
  };
  if (peek() == '-') ++position_;
  if (peek() == 'I') return literal("Infinity");
  if (peek() == '0') {
    ++position_;
    if (is_digit(peek())) return fail("a number that begins with 0");
  } else if (!digits()) {
    return peek() < 0 ? ScanResult::incomplete : fail("a value was expected");
  }
  if (peek() == '.') {
    ++position_;
    if (!digits())
      return peek() < 0 ? ScanResult::incomplete : fail("a number without digits after its point");
  }
  if (peek() == 'e' || peek() == 'E') {
    ++position_;
    if (peek() == '+' || peek() == '-') ++position_;
    if (!digits())
      return peek() < 0 ? ScanResult::incomplete : fail("a number without digits in its exponent");
  }
  return peek() < 0 && !final_ ? ScanResult::incomplete : ScanResult::complete;
}

ScanResult JsonScanner::scalar(JsonSlice& slice) {
  const std::size_t start = position_;
  const int c = peek();
  ScanResult result = ScanResult::complete;
  slice.escaped = slice.empty = false;
  if (c == '"') {
    slice.kind = JsonKind::string;
    return string(slice.text, slice.escaped);
  }
  if (c == 't' || c == 'f') {
    slice.kind = JsonKind::boolean;
    result = literal(c == 't' ? "true" : "false");
  } else if (c == 'n' || c == 'N') {
    slice.kind = JsonKind::null;
    result = literal(c == 'n' ? "null" : "NaN");
  } else {
    slice.kind = JsonKind::number;
    result = c < 0 ? ScanResult::incomplete : number();
  }
  if (result == ScanResult::complete) slice.text = text_.substr(start, position_ - start);
  return result;
}

ScanResult JsonScanner::key(std::string_view& text, bool& escaped) {
  if (peek() < 0) return ScanResult::incomplete;
  if (peek() != '"') return fail("a key in quotes was expected");
  if (const ScanResult result = string(text, escaped); result != ScanResult::complete) return result;
  skip_space();
  if (peek() < 0) return ScanResult::incomplete;
  if (peek() != ':') return fail("a colon was expected after the key");
  ++position_;
  skip_space();
  return ScanResult::complete;
}

ScanResult JsonScanner::container(JsonSlice& slice) {
  const std::size_t start = position_;
  std::array<char, max_depth> closers{};
  int depth = 0;
  slice.kind = text_[start] == '[' ? JsonKind::array : JsonKind::object;
  slice.escaped = false;
  slice.empty = true;
  for (;;) {  // at a value
    const int c = peek();
    bool opened = false;
    if (c == '[' || c == '{') {
      if (depth == max_depth) return fail("nesting deeper than 128 levels");
      closers[static_cast<std::size_t>(depth++)] = c == '[' ? ']' : '}';
      ++position_;
      opened = true;
    } else {
      JsonSlice ignored;
      if (const ScanResult result = scalar(ignored); result != ScanResult::complete) return result;
    }
    for (;;) {  // after a value, or just inside a container
      skip_space();
      const int next = peek();
      if (next < 0) return ScanResult::incomplete;
      const char closer = closers[static_cast<std::size_t>(depth - 1)];
      if (next == closer) {
        ++position_;
        opened = false;
        if (--depth > 0) continue;
        slice.text = text_.substr(start, position_ - start);
        return ScanResult::complete;
      }
      slice.empty = false;
      if (!opened) {
        if (next != ',') return fail("a comma or the end of a list or object was expected");
        ++position_;
        skip_space();
      }
      if (closer == '}') {
        std::string_view name;
        bool escaped = false;
        if (const ScanResult result = key(name, escaped); result != ScanResult::complete) return result;
      }
      break;
    }
  }
}

ScanResult JsonScanner::value(JsonSlice& slice) {
  const int c = peek();
  return c == '[' || c == '{' ? container(slice) : scalar(slice);
}

ScanResult JsonScanner::object(std::vector<JsonMember>& members) {
  members.clear();
  ++position_;
  skip_space();
  if (peek() == '}') {
    ++position_;
    return ScanResult::complete;
  }
  for (;;) {
    if (members.size() == max_members) return fail("more than 4096 columns");
    JsonMember& member = members.emplace_back();
    ScanResult result = key(member.key, member.key_escaped);
    if (result == ScanResult::complete) result = value(member.value);
    if (result != ScanResult::complete) return result;
    skip_space();
    const int next = peek();
    if (next < 0) return ScanResult::incomplete;
    if (next != ',' && next != '}') return fail("a comma or the end of the row was expected");
    ++position_;
    if (next == '}') return ScanResult::complete;
    skip_space();
  }
}

bool decode_json_string(std::string_view written, std::string& text) {
  text.clear();
  text.reserve(written.size());
  bool whole = true;
  for (std::size_t i = 0; i < written.size();) {
    const std::size_t backslash = std::min(written.find('\\', i), written.size());
    text.append(written, i, backslash - i);
    i = backslash;
    if (i + 1 >= written.size()) break;
    const char kind = written[i + 1];
    i += 2;
    if (kind != 'u') {
      constexpr std::string_view from = "bfnrt", to = "\b\f\n\r\t";
      const std::size_t known = from.find(kind);
      text.push_back(known == std::string_view::npos ? kind : to[known]);
      continue;
    }
    std::uint32_t code_point = hex4(written.substr(i));
    i += 4;
    if (code_point >= 0xD800 && code_point < 0xDC00 && written.substr(i, 2) == "\\u") {
      const std::uint32_t second = hex4(written.substr(i + 2));
      if (second >= 0xDC00 && second < 0xE000) {
        code_point = 0x10000 + ((code_point - 0xD800) << 10) + (second - 0xDC00);
        i += 6;
      }
    }
    if (code_point >= 0xD800 && code_point < 0xE000) whole = false;
    append_utf8(text, code_point);
  }
  return whole;
}

}  // namespace lorikeet
