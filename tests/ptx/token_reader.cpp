// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "tests/ptx/body_parser.h"

namespace lorikeet::ptx {

bool parse_integer(std::string_view word, std::uint64_t& value) {
  if (word.empty() || word[0] < '0' || word[0] > '9') return false;
  if (word.back() == 'U' || word.back() == 'u') word.remove_suffix(1);
  int base = 10;
  if (word.size() > 2 && (word[1] == 'x' || word[1] == 'X')) base = 16;
  if (word.size() > 2 && (word[1] == 'b' || word[1] == 'B')) base = 2;
  if (base != 10) word.remove_prefix(2);
  if (base == 10 && word.size() > 1 && word[0] == '0') base = 8;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value, base);
  return error == std::errc() && end == word.data() + word.size();
}

std::string_view TokenReader::peek(std::size_t ahead) const {
  return tokens_[std::min(at_ + ahead, tokens_.size() - 1)].text;
}

std::string_view TokenReader::take() {
  const std::string_view text = tokens_[at_].text;
  if (text.empty()) fail("the text ends too early");
  ++at_;
  return text;
}

bool TokenReader::accept(std::string_view what) {
  if (peek() != what) return false;
  ++at_;
  return true;
}

void TokenReader::expect(std::string_view what) {
  if (!accept(what)) fail("\"" + std::string(what) + "\" expected before \"" + std::string(peek()) + "\"");
}

std::string TokenReader::statement_text() const {
  const char* from = tokens_[std::min(start_, at_)].text.data();
  const char* to = tokens_[at_].text.data() + std::min<std::size_t>(tokens_[at_].text.size(), 1);
  to = std::min(std::min(to, from + 400), source_.data() + source_.size());
  std::string text;
  for (const char* p = from; p < to; ++p) {
    const char c = *p == '\n' || *p == '\t' || *p == '\r' ? ' ' : *p;
    if (c != ' ' || (!text.empty() && text.back() != ' ')) text += c;
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == ';')) text.pop_back();
  return text;
}

void TokenReader::fail(const std::string& what) const {
  fail_at(line(), statement_text(), what);
}

std::uint64_t TokenReader::number() {
  const bool negative = accept("-");
  std::uint64_t value = 0;
  if (!parse_integer(peek(), value)) fail("a number expected before \"" + std::string(peek()) + "\"");
  take();
  return negative ? 0 - value : value;
}

Variable TokenReader::variable(Space space) {
  start_statement();
  take();
  Variable v;
  v.space = space;
  std::size_t vector = 1;
  for (;;) {
    if (accept(".align")) {
      v.align = number();
    } else if (accept(".v2")) {
      vector = 2;
    } else if (accept(".v4")) {
      vector = 4;
    } else if (accept(".ptr")) {
      for (const char* s : {".global", ".shared", ".local", ".const"}) accept(s);
    } else if (peek().size() > 1 && type_named(peek().substr(1)) != Type::none && peek()[0] == '.') {
      v.type = type_named(take().substr(1));
    } else if (peek() == ".attribute") {
      fail("variables with attributes are not known");
    } else {
      break;
    }
  }
  const auto element = static_cast<std::size_t>(size_of(v.type)) * vector;
  if (element == 0) fail("a variable of this type cannot be");
  if (v.align == 0 || (v.align & (v.align - 1)) != 0 || v.align > 4096) fail("bad alignment");
  v.align = std::max(v.align, element);
  v.bytes = element;
  if (!peek_is_word() || peek()[0] == '.') fail("a name expected before \"" + std::string(peek()) + "\"");
  v.name = take();
  while (accept("[")) {
    if (accept("]")) {
      v.unsized = true;
      v.bytes = 0;
      continue;
    }
    const std::uint64_t count = number();
    if (count > (std::uint64_t{1} << 32) || v.bytes > (std::uint64_t{1} << 32)) fail("too large");
    v.bytes *= count;
    expect("]");
  }
  if (accept("=")) initializer(v);
  return v;
}

void TokenReader::initializer(Variable& v) {
  const auto size = static_cast<std::size_t>(size_of(v.type));
  if (!accept("{")) return initial_element(v, size);
  int depth = 1;
  while (depth > 0) {
    if (accept("{")) {
      ++depth;
    } else if (accept("}")) {
      --depth;
    } else if (!accept(",")) {
      initial_element(v, size);
    }
  }
}

void TokenReader::initial_element(Variable& v, std::size_t size) {
  std::uint64_t value = 0;
  const bool negative = accept("-");
  const std::string word(take());
  if (word.size() > 2 && word[0] == '0' && std::string_view("fFdD").find(word[1]) != std::string_view::npos) {
    value = std::strtoull(word.c_str() + 2, nullptr, 16);
  } else if (!parse_integer(word, value)) {
    std::string name = word;
    if (word == "generic") {
      expect("(");
      name = take();
      expect(")");
    }
    if (size != 8) fail("an address in " + std::to_string(size) + " bytes is not known");
    const std::uint64_t addend = accept("+") ? number() : 0;
    v.references.push_back({v.initial.size(), name, addend});
  }
  if (negative) value = 0 - value;
  if (v.initial.size() + size > v.bytes) fail("more initial values than elements");
  for (std::size_t i = 0; i < size; ++i) v.initial.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

}  // namespace lorikeet::ptx
