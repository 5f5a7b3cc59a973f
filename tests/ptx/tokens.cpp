// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/tokens.h"

#include <algorithm>
#include <stdexcept>

namespace lorikeet::ptx {

namespace {

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}

bool ends_with_line(std::string_view word) {
  return word == ".version" || word == ".address_size" || word == ".file" || word == ".loc";
}

class Cutter {
 public:
  explicit Cutter(std::string_view text) : text_(text) {}

  std::vector<Token> cut() {
    while (at_ < text_.size()) step();
    tokens_.push_back({text_.substr(text_.size()), line_, false});
    return std::move(tokens_);
  }

 private:
  bool starts(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  void skip_to(std::size_t end) {
    end = std::min(end, text_.size());
    line_ += static_cast<int>(std::count(text_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         text_.begin() + static_cast<std::ptrdiff_t>(end), '\n'));
    at_ = end;
  }

  void step() {
    const char c = text_[at_];
    if (c == '\n' || c == ' ' || c == '\t' || c == '\r') return skip_to(at_ + 1);
    if (starts("//")) return skip_to(text_.find('\n', at_));
    if (starts("/*")) {
      const std::size_t end = text_.find("*/", at_ + 2);
      return skip_to(end == text_.npos ? end : end + 2);
    }
    if (c == '"') {
      const std::size_t end = text_.find('"', at_ + 1);
      if (end == text_.npos) fail_at(line_, text_.substr(at_, 40), "a string without an end");
      tokens_.push_back({text_.substr(at_, end + 1 - at_), line_, false});
      return skip_to(end + 1);
    }
    if (is_word(c)) return word();
    tokens_.push_back({text_.substr(at_, 1), line_, false});
    ++at_;
  }

  void word() {
    std::size_t end = at_;
    while (end < text_.size()) {
      if (is_word(text_[end])) {
        ++end;
      } else if (text_.substr(end, 2) == "::") {
        end += 2;
      } else {
        break;
      }
    }
    const std::string_view found = text_.substr(at_, end - at_);
    if (ends_with_line(found)) return skip_to(text_.find('\n', at_));
    // ".reg.b32" is two words; an opcode with its modifiers stays one.
    const std::size_t dot = found[0] == '.' ? found.find('.', 1) : found.npos;
    tokens_.push_back({found.substr(0, dot), line_, true});
    at_ = dot == found.npos ? end : at_ + dot;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

std::vector<Token> tokenize(std::string_view text) {
  return Cutter(text).cut();
}

void fail_at(int line, std::string_view text, const std::string& what) {
  throw std::runtime_error("PTX line " + std::to_string(line) + ", \"" + std::string(text) + "\": " + what);
}

}  // namespace lorikeet::ptx
