// SPDX-License-Identifier: Apache-2.0
#include "core/text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>

#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

// White_Space without U+180E, which PCRE2's \s would match; word characters as Oniguruma has them.
constexpr std::string_view kSpaceSet =
    R"(\t-\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000})";
constexpr std::string_view kWordSet = R"(\p{L}\p{M}\p{Nd}\p{Pc})";
constexpr std::size_t kMaxPattern = 64 << 10;

template <typename T, void (*Free)(T*)>
struct Freed {
  void operator()(T* pointer) const { Free(pointer); }
};
using Code = std::unique_ptr<pcre2_code, Freed<pcre2_code, pcre2_code_free>>;
using MatchContext =
    std::unique_ptr<pcre2_match_context, Freed<pcre2_match_context, pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Freed<pcre2_match_data, pcre2_match_data_free>>;

std::string pcre2_message(int code) {
  PCRE2_UCHAR text[256];
  if (pcre2_get_error_message(code, text, sizeof text) < 0) return "error " + std::to_string(code);
  return reinterpret_cast<const char*>(text);
}

/// Turns Oniguruma's meaning of a pattern into PCRE2's.
class Translator {
 public:
  Translator(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}

  std::string run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        escape();
      } else if (in_class_) {
        in_class(c);
      } else {
        outside(c);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorCode::unsupported, "The pattern uses " + what + ", which is not built", where_);
  }

  void escape() {
    if (at_ + 1 >= pattern_.size())
      throw Error(ErrorCode::bad_format, "The pattern ends in a backslash", where_);
    const char c = pattern_[at_ + 1];
    const std::string_view set = c == 's' || c == 'S'   ? kSpaceSet
                                 : c == 'w' || c == 'W' ? kWordSet
                                 : c == 'h' || c == 'H' ? std::string_view("0-9A-Fa-f")
                                                        : std::string_view();
    if (set.empty()) {
      out_.append(pattern_, at_, 2);
    } else if (!in_class_) {
      out_ += c >= 'a' ? "[" : "[^";
      out_.append(set).append("]");
    } else if (c >= 'a') {
      out_ += set;
    } else if (c == 'S') {
      out_ += R"(\S\x{180E})";
    } else {
      refuse(std::string("\\") + c + " in a character class");
    }
    at_ += 2;
  }

  void in_class(char c) {
    if (c == '[' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] == ':') {
      const std::size_t end = pattern_.find(":]", at_);
      if (end == std::string_view::npos)
        throw Error(ErrorCode::bad_format, "The pattern has an open class", where_);
      out_.append(pattern_, at_, end + 2 - at_);
      at_ = end + 2;
      return;
    }
    if (c == '[') refuse("a class inside a class");
    if (c == '&' && at_ + 1 < pattern_.size() && pattern_[at_ + 1] == '&') refuse("a class intersection");
    if (c == ']' && at_ > class_first_) in_class_ = false;
    out_ += c;
    ++at_;
  }

  void outside(char c) {
    if (c == '[') {
      in_class_ = true;
      class_first_ = at_ + 1;
      if (class_first_ < pattern_.size() && pattern_[class_first_] == '^') ++class_first_;
      out_.append(pattern_, at_, class_first_ - at_);
      at_ = class_first_;
      return;
    }
    if (c == '(' && pattern_.substr(at_, 2) == "(?") options(at_ + 2);
    if (c == '(' && pattern_.substr(at_, 2) == "(*") refuse("a control verb");
    out_ += c;
    ++at_;
  }

  /// Only (?i) means the same in both; (?m) is another option in each.
  void options(std::size_t at) const {
    const std::size_t end = std::min(pattern_.find_first_not_of("imxs-", at), pattern_.size());
    if (end == at || end == pattern_.size() || (pattern_[end] != ':' && pattern_[end] != ')')) return;
    if (pattern_.substr(at, end - at).find_first_not_of("i-") != std::string_view::npos) {
      refuse("the option (?" + std::string(pattern_.substr(at, end - at)) + ")");
    }
  }

  std::string_view pattern_;
  const std::string& where_;
  std::string out_;
  std::size_t at_ = 0;
  std::size_t class_first_ = 0;
  bool in_class_ = false;
};

}  // namespace

struct Regex::State {
  Code code;
  std::string where;

  /// One match at or after `from`: the number of captures, PCRE2_ERROR_NOMATCH, or another error.
  int match(std::string_view text, std::size_t from, pcre2_match_data* data,
            pcre2_match_context* context) const {
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    int rc = pcre2_match(code.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK, data, context);
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT) {  // a very long run: the interpreter keeps its state on the heap
      rc = pcre2_match(code.get(), subject, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                       context);
    }
    return rc;
  }
};

Regex::Regex(std::string_view pattern, const std::string& where) : state_(std::make_unique<State>()) {
  if (pattern.size() > kMaxPattern) throw Error(ErrorCode::bad_format, "The pattern is too long", where);
  const std::string source = Translator(pattern, where).run();
  int code = 0;
  PCRE2_SIZE offset = 0;
  // Ruby's syntax, which these files use, lets ^ and $ match at every line.
  constexpr std::uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  state_->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(source.data()), source.size(), options, &code,
                                   &offset, nullptr));
  if (!state_->code) {
    throw Error(ErrorCode::bad_format, "Cannot read the pattern (" + pcre2_message(code) + ")", where);
  }
  pcre2_jit_compile(state_->code.get(), PCRE2_JIT_COMPLETE);  // without it matching is slower, not different
  state_->where = where;
}

Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

void Regex::for_each(std::string_view text,
                     const std::function<void(std::size_t, std::size_t)>& found) const {
  const MatchData data(pcre2_match_data_create_from_pattern(state_->code.get(), nullptr));
  const MatchContext context(pcre2_match_context_create(nullptr));
  if (!data || !context) throw Error(ErrorCode::out_of_memory, "No memory to match a pattern", state_->where);
  pcre2_set_match_limit(context.get(), static_cast<std::uint32_t>(
                                           std::clamp<std::size_t>(text.size() * 8, 1u << 20, 1u << 30)));
  pcre2_set_heap_limit(context.get(), 256u << 10);  // KiB
  const PCRE2_SIZE* span = pcre2_get_ovector_pointer(data.get());
  for (std::size_t from = 0; from < text.size();) {
    const int rc = state_->match(text, from, data.get(), context.get());
    if (rc == PCRE2_ERROR_NOMATCH) return;
    if (rc < 0) {
      throw Error(ErrorCode::bad_format, "The pattern failed on this text (" + pcre2_message(rc) + ")",
                  state_->where);
    }
    if (span[1] > span[0] && span[0] >= from) {
      found(span[0], span[1]);
      from = span[1];
    } else {
      from = std::max(from, span[0]);
      if (from < text.size()) from += utf8_at(text, from).bytes;
    }
  }
}

}  // namespace lorikeet
