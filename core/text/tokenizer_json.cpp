// SPDX-License-Identifier: Apache-2.0
#include "core/text/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "core/text/json_fields.h"
#include "core/text/unicode.h"
#include "core/text/vocabulary.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::size_t kMaxMerges = 8'000'000;

/// Events of the JSON parser: model.vocab and model.merges go to their lists, everything else into a tree.
class Reader : public nlohmann::json_sax<json> {
 public:
  explicit Reader(TokenizerJson& out) : out_(out) {}
  const std::string& problem() const { return problem_; }
  std::size_t position() const { return position_; }

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return number(v, v); }
  bool number_unsigned(number_unsigned_t v) override {
    return number(v, v > INT32_MAX ? -1 : static_cast<std::int64_t>(v));
  }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool binary(binary_t&) override { return fail("Binary values are not JSON"); }

  bool string(string_t& v) override {
    if (list_ == List::merges) return merge_text(v);
    if (list_ == List::merge) return merge_part(v);
    return value(std::move(v));
  }

  bool start_object(std::size_t) override { return open(json::value_t::object); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(json::value_t::array); }
  bool end_array() override { return close(); }

  bool key(string_t& v) override {
    if (list_ == List::none) {
      key_ = std::move(v);
    } else if (list_ == List::vocabulary) {
      if (out_.vocabulary.size() >= static_cast<std::size_t>(Vocabulary::max_size))
        return fail("The vocabulary is too large");
      out_.vocabulary.emplace_back(std::move(v), -1);
    }
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    position_ = position;
    problem_ = error.what();
    // Only what was wrong: the library's own prefix and place are said by us, and what it read last may be
    // long.
    if (const auto end = problem_.find(": "); end != std::string::npos) problem_.erase(0, end + 2);
    if (const auto last = problem_.find("; last read"); last != std::string::npos) problem_.resize(last);
    problem_ = replace_invalid_utf8(problem_);
    return false;
  }

 private:
  enum class List { none, vocabulary, merges, merge, ignored };

  bool fail(std::string what) {
    problem_ = std::move(what);
    return false;
  }

  template <typename Number>
  bool number(Number v, std::int64_t id) {
    if (list_ != List::vocabulary) return value(v);
    if (id < 0 || id >= Vocabulary::max_size) return fail("The id of a piece is out of range");
    out_.vocabulary.back().second = id;
    return true;
  }

  template <typename Value>
  bool value(Value&& v) {
    if (list_ == List::ignored) return true;
    if (list_ != List::none) return fail("A vocabulary or merge list holds a wrong value");
    return put(json(std::forward<Value>(v))) != nullptr;
  }

  /// Puts a value where the tree is open; null when there are too many.
  json* put(json v) {
    if (++values_ > kMaxValues) {
      fail("Too many values");
      return nullptr;
    }
    if (open_.empty()) {
      *out_.rest = std::move(v);
      return out_.rest.get();
    }
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[key_] = std::move(v));
    parent.push_back(std::move(v));
    return &parent.back();
  }

  bool in_model() const { return open_.size() == 2 && open_[1] == model_ && model_ != nullptr; }

  bool open(json::value_t type) {
    if (open_.size() + ignored_depth_ >= kMaxDepth) return fail("Values are nested too deep");
    const bool object = type == json::value_t::object;
    if (list_ == List::ignored) return ++ignored_depth_, true;
    if (list_ == List::merges && !object) {
      list_ = List::merge;
      parts_ = 0;
      return add_merge();
    }
    if (list_ != List::none) return fail("A vocabulary or merge list holds a wrong value");
    if (in_model() && key_ == "vocab") {
      list_ = object ? List::vocabulary
                     : List::ignored;  // a list belongs to a kind that is refused by name later
      ignored_depth_ = object ? 0 : 1;
      return true;
    }
    if (in_model() && key_ == "merges" && !object) {
      list_ = List::merges;
      return true;
    }
    json* made = put(json(type));
    if (!made) return false;
    if (open_.size() == 1 && object && key_ == "model" && open_[0]->is_object()) model_ = made;
    open_.push_back(made);
    return true;
  }

  bool close() {
    if (list_ == List::none) {
      open_.pop_back();
    } else if (list_ == List::merge) {
      if (parts_ != 2) return fail("A merge is not a pair");
      list_ = List::merges;
    } else if (list_ == List::ignored) {
      if (--ignored_depth_ == 0) list_ = List::none;
    } else {
      list_ = List::none;
    }
    return true;
  }

  bool add_merge() {
    if (out_.merges.size() >= kMaxMerges) return fail("Too many merges");
    out_.merges.emplace_back();
    return true;
  }

  bool merge_text(const std::string& text) {
    if (text.rfind("#version", 0) == 0) return true;
    const std::size_t space = text.find(' ');
    if (space == std::string::npos || text.find(' ', space + 1) != std::string::npos)
      return fail("A merge is not a pair");
    if (!add_merge()) return false;
    out_.merges.back() = {text.substr(0, space), text.substr(space + 1)};
    return true;
  }

  bool merge_part(std::string& text) {
    if (++parts_ > 2) return fail("A merge is not a pair");
    (parts_ == 1 ? out_.merges.back().first : out_.merges.back().second) = std::move(text);
    return true;
  }

  TokenizerJson& out_;
  std::vector<json*> open_;
  json* model_ = nullptr;
  std::string key_;
  std::string problem_;
  std::size_t position_ = 0;
  std::size_t values_ = 0;
  std::size_t ignored_depth_ = 0;
  int parts_ = 0;
  List list_ = List::none;
};

}  // namespace

TokenizerJson read_tokenizer_json(std::string_view text, const std::string& name) {
  TokenizerJson out;
  out.rest = std::make_unique<json>();
  Reader reader(out);
  if (!json::sax_parse(text.begin(), text.end(), &reader)) {
    std::string where = name;
    if (reader.position() > 0) where += ", byte " + std::to_string(reader.position());
    throw Error(ErrorCode::bad_format, reader.problem().empty() ? "This is not JSON" : reader.problem(),
                where);
  }
  if (!out.rest->is_object()) throw Error(ErrorCode::bad_format, "This is not a JSON object", name);
  return out;
}

AddedToken read_added_token(const json& entry, TokenId id, const std::string& where) {
  if (!entry.is_object()) throw Error(ErrorCode::bad_format, "An added token is not an object", where);
  AddedToken token;
  token.content = field_string(entry, "content", {}, where);
  token.id =
      id >= 0 ? id : static_cast<TokenId>(field_int(entry, "id", -1, 0, Vocabulary::max_size - 1, where));
  if (token.id < 0) throw Error(ErrorCode::bad_format, "An added token has no id", where);
  token.single_word = field_bool(entry, "single_word", false, where);
  token.lstrip = field_bool(entry, "lstrip", false, where);
  token.rstrip = field_bool(entry, "rstrip", false, where);
  token.special = field_bool(entry, "special", false, where);
  token.normalized = field_bool(entry, "normalized", !token.special, where);
  return token;
}

}  // namespace lorikeet
