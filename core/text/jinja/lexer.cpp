// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/lexer.h"

#include <algorithm>
#include <array>

#include "core/base/utf8.h"
#include "core/text/jinja/characters.h"
#include "core/text/jinja/string_literal.h"
#include "kernels/base/error.h"

namespace lorikeet::jinja {
namespace {

std::string with_unix_line_ends(std::string_view source) {
  std::string text;
  text.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r') {
      text.push_back('\n');
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    } else {
      text.push_back(source[i]);
    }
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         (c & 0x80) != 0;
}
bool is_digit_byte(char c) {
  return c >= '0' && c <= '9';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : text_(with_unix_line_ends(source)) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) outside();
    add(TokenKind::end, "");
    return std::move(tokens_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::bad_format, "The chat template is broken, " + what,
                "line " + std::to_string(line_));
  }
  void add(TokenKind kind, std::string text) { tokens_.push_back({kind, std::move(text), line_}); }
  bool here(std::string_view what) const { return std::string_view(text_).substr(at_, what.size()) == what; }
  /// Moves on over `count` bytes, counting lines.
  void pass(std::size_t count) {
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
    if (count > 0) after_line_end_ = text_[at_ - 1] == '\n';
  }
  void pass_space() {
    while (at_ < text_.size()) {
      std::size_t after = at_;
      if (!is_python_space(next_code_point(text_, after))) return;
      pass(after - at_);
    }
  }

  void outside();
  void data(std::size_t end, char sign, bool is_block);
  void comment();
  bool raw(std::size_t tag);
  bool close(std::string_view closer, bool trim_line_end);
  void inside(std::string_view closer, TokenKind end_kind);
  void token();
  void number();
  void string();

  std::string text_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool after_line_end_ = true;  ///< what was read last ended a line, or nothing was read yet
  std::vector<Token> tokens_;
  std::string open_brackets_;  ///< closing brackets that are due
};

/// Text up to the tag at `end`, without the white space that the tag takes away.
void Lexer::data(std::size_t end, char sign, bool is_block) {
  std::string_view view = std::string_view(text_).substr(at_, end - at_);
  if (sign == '-') {
    const TaggedText whole{std::string(view)};
    view = view.substr(0, strip(whole, "", false, true).size());
  } else if (sign != '+' && is_block) {
    const std::size_t line_end = view.rfind('\n');
    const std::size_t start = line_end == std::string_view::npos ? 0 : line_end + 1;
    const bool blank = view.find_first_not_of(" \t\v\f", start) == std::string_view::npos;
    if ((start > 0 || after_line_end_) && blank) view = view.substr(0, start);
  }
  if (!view.empty()) add(TokenKind::data, std::string(view));
  pass(end - at_);
}

void Lexer::outside() {
  std::size_t tag = at_;
  for (;; ++tag) {
    tag = text_.find('{', tag);
    if (tag == std::string::npos || tag + 1 >= text_.size()) {
      data(text_.size(), '+', false);
      return;
    }
    if (std::string_view("{%#").find(text_[tag + 1]) != std::string_view::npos) break;
  }
  const char kind = text_[tag + 1];
  char sign = tag + 2 < text_.size() ? text_[tag + 2] : ' ';
  if (sign != '-' && sign != '+') sign = ' ';
  data(tag, sign, kind != '{');
  if (kind == '%' && raw(tag)) return;
  pass(sign == ' ' ? 2 : 3);
  if (kind == '#') {
    comment();
  } else if (kind == '%') {
    add(TokenKind::block_begin, "");
    inside("%}", TokenKind::block_end);
  } else {
    add(TokenKind::output_begin, "");
    inside("}}", TokenKind::output_end);
  }
}

/// At the end of a tag: passes it with its sign and the white space that goes with it.
bool Lexer::close(std::string_view closer, bool trim_line_end) {
  const bool minus = here(std::string("-") + std::string(closer));
  const bool plus = trim_line_end && here(std::string("+") + std::string(closer));
  if (!minus && !plus && !here(closer)) return false;
  pass(closer.size() + (minus || plus ? 1 : 0));
  if (minus)
    pass_space();
  else if (!plus && trim_line_end && here("\n"))
    pass(1);
  return true;
}

void Lexer::comment() {
  while (at_ < text_.size()) {
    if (close("#}", true)) return;
    pass(1);
  }
  fail("a comment is not closed");
}

/// {% raw %}: everything up to {% endraw %} is data.
bool Lexer::raw(std::size_t tag) {
  const auto word_at = [&](std::size_t at, std::string_view word, std::size_t& after) {
    if (text_.compare(at, 2, "{%") != 0) return false;
    at += 2;
    if (at < text_.size() && (text_[at] == '-' || text_[at] == '+')) ++at;
    at = std::min(text_.find_first_not_of(" \t\n", at), text_.size());
    if (text_.compare(at, word.size(), word) != 0) return false;
    after = std::min(text_.find_first_not_of(" \t\n", at + word.size()), text_.size());
    return text_.compare(after, 2, "%}") == 0 || text_.compare(after, 3, "-%}") == 0 ||
           text_.compare(after, 3, "+%}") == 0;
  };
  std::size_t after = 0;
  if (!word_at(tag, "raw", after) || text_[after] == '+') return false;
  pass(after - at_);
  const bool minus = here("-");
  pass(minus ? 3 : 2);
  if (minus) pass_space();
  for (std::size_t end = text_.find("{%", at_); end != std::string::npos; end = text_.find("{%", end + 1)) {
    if (!word_at(end, "endraw", after)) continue;
    data(end, text_[end + 2], true);
    pass(after - at_);
    close("%}", true);
    return true;
  }
  fail("{% raw %} is not closed");
}

void Lexer::inside(std::string_view closer, TokenKind end_kind) {
  open_brackets_.clear();
  for (;;) {
    if (at_ >= text_.size()) fail(std::string(closer) + " is missing");
    if (open_brackets_.empty() && close(closer, end_kind == TokenKind::block_end)) break;
    std::size_t after = at_;
    if (is_python_space(next_code_point(text_, after))) {
      pass(after - at_);
      continue;
    }
    token();
  }
  add(end_kind, "");
}

void Lexer::token() {
  const char c = text_[at_];
  if (is_digit_byte(c)) return number();
  if (c == '\'' || c == '"') return string();
  if (is_word_byte(c)) {
    std::size_t end = at_;
    while (end < text_.size() && is_word_byte(text_[end])) ++end;
    add(TokenKind::name, text_.substr(at_, end - at_));
    return pass(end - at_);
  }
  constexpr std::array<std::string_view, 6> doubles = {"//", "**", "==", "!=", ">=", "<="};
  std::size_t length = 1;
  for (const std::string_view symbol : doubles) {
    if (here(symbol)) length = 2;
  }
  constexpr std::string_view singles = "+-*/%~[](){}<>=.:|,;";
  if (length == 1 && singles.find(c) == std::string_view::npos)
    fail(std::string("'") + c + "' was not expected");
  if (c == '(') open_brackets_.push_back(')');
  if (c == '[') open_brackets_.push_back(']');
  if (c == '{') open_brackets_.push_back('}');
  if (c == ')' || c == ']' || c == '}') {
    if (open_brackets_.empty() || open_brackets_.back() != c) fail(std::string("'") + c + "' closes nothing");
    open_brackets_.pop_back();
  }
  add(TokenKind::symbol, text_.substr(at_, length));
  pass(length);
}

void Lexer::number() {
  const auto digits = [&](std::size_t i) {
    while (i < text_.size() && (is_digit_byte(text_[i]) ||
                                (text_[i] == '_' && i + 1 < text_.size() && is_digit_byte(text_[i + 1]))))
      ++i;
    return i;
  };
  std::size_t end = digits(at_);
  TokenKind kind = TokenKind::integer;
  // After a dot a number is a member's name, as in `row.1`, and takes no fraction.
  const bool member =
      !tokens_.empty() && tokens_.back().text == "." && tokens_.back().kind == TokenKind::symbol;
  if (!member && end + 1 < text_.size() && text_[end] == '.' && is_digit_byte(text_[end + 1])) {
    kind = TokenKind::real;
    end = digits(end + 1);
  }
  if (!member && end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
    std::size_t exponent = end + 1;
    if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
    if (exponent < text_.size() && is_digit_byte(text_[exponent])) {
      kind = TokenKind::real;
      end = digits(exponent);
    }
  }
  std::string text = text_.substr(at_, end - at_);
  text.erase(std::remove(text.begin(), text.end(), '_'), text.end());
  add(kind, std::move(text));
  pass(end - at_);
}

void Lexer::string() {
  const char quote = text_[at_];
  std::size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != quote) end += text_[end] == '\\' ? 2 : 1;
  if (end >= text_.size()) fail("a text in quotes is not closed");
  std::string decoded;
  if (!decode_string_literal(std::string_view(text_).substr(at_ + 1, end - at_ - 1), decoded)) {
    fail("a text in quotes holds a broken escape");
  }
  add(TokenKind::string, std::move(decoded));
  pass(end + 1 - at_);
}

}  // namespace

std::vector<Token> tokenise_template(std::string_view source) {
  return Lexer(source).run();
}

}  // namespace lorikeet::jinja
