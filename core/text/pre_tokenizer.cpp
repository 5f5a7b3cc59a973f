// SPDX-License-Identifier: Apache-2.0
#include "core/text/pre_tokenizer.h"

#include <nlohmann/json.hpp>

#include "core/text/json_fields.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr int kMaxDepth = 16;
constexpr const char* kGpt2Pattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

enum class Behaviour { removed, isolated, merged_with_previous, merged_with_next, contiguous };

Behaviour behaviour_named(const std::string& name, const std::string& where) {
  if (name == "Removed") return Behaviour::removed;
  if (name == "Isolated") return Behaviour::isolated;
  if (name == "MergedWithPrevious") return Behaviour::merged_with_previous;
  if (name == "MergedWithNext") return Behaviour::merged_with_next;
  if (name == "Contiguous") return Behaviour::contiguous;
  throw Error(ErrorCode::unsupported, "The split behaviour \"" + name + "\" is not built", where);
}

struct Span {
  std::size_t begin, end;
  bool match;
};

/// All of `text` as matches and what lies between them.
void find_spans(std::string_view text, const MatchFinder& find, bool invert, std::vector<Span>& spans) {
  spans.clear();
  std::size_t done = 0;
  find(text, [&](std::size_t begin, std::size_t end) {
    if (begin > done) spans.push_back({done, begin, invert});
    spans.push_back({begin, end, !invert});
    done = end;
  });
  if (done < text.size()) spans.push_back({done, text.size(), invert});
}

/// Joins spans as the behaviour asks. A match joins a neighbour only where no other match stands between.
void join_spans(std::vector<Span>& spans, Behaviour behaviour) {
  if (behaviour == Behaviour::isolated) return;
  std::size_t kept = 0;
  const std::size_t count = spans.size();
  const bool backward = behaviour == Behaviour::merged_with_next;
  bool previous = false;
  const auto at = [&](std::size_t i) -> Span& { return spans[backward ? count - 1 - i : i]; };
  for (std::size_t i = 0; i < count; ++i) {
    const Span span = at(i);
    const bool last_match = std::exchange(previous, span.match);
    if (behaviour == Behaviour::removed) {
      if (!span.match) at(kept++) = span;
      continue;
    }
    const bool joins =
        behaviour == Behaviour::contiguous ? span.match == last_match : span.match && !last_match;
    if (joins && kept > 0) {
      Span& target = at(kept - 1);
      (backward ? target.begin : target.end) = backward ? span.begin : span.end;
    } else {
      at(kept++) = span;
    }
  }
  if (backward) {
    spans.erase(spans.begin(), spans.end() - static_cast<std::ptrdiff_t>(kept));
  } else {
    spans.resize(kept);
  }
}

std::function<void(PieceList&)> split_step(MatchFinder find, Behaviour behaviour, bool invert) {
  return [find = std::move(find), behaviour, invert](PieceList& list) {
    std::vector<Piece> out;
    out.reserve(list.pieces.size() * 2);
    std::vector<Span> spans;
    for (const Piece& piece : list.pieces) {
      find_spans(piece.text, find, invert, spans);
      join_spans(spans, behaviour);
      for (const Span& span : spans) {
        out.push_back(
            {piece.text.substr(span.begin, span.end - span.begin), piece.at_start && span.begin == 0});
      }
    }
    list.pieces = std::move(out);
  };
}

/// A finder of single characters of a class.
template <typename Test>
MatchFinder each_char(Test test) {
  return [test](std::string_view text, const std::function<void(std::size_t, std::size_t)>& found) {
    for (std::size_t at = 0; at < text.size();) {
      const Utf8Char c = utf8_at(text, at);
      if (test(c.code)) found(at, at + c.bytes);
      at += c.bytes;
    }
  };
}

std::function<void(PieceList&)> metaspace_step(const nlohmann::json& json, const std::string& where) {
  const std::string mark = field_string(json, "replacement", "\xE2\x96\x81", where);
  const bool old_prefix = field_bool(json, "add_prefix_space", true, where);
  const std::string scheme = field_string(json, "prepend_scheme", old_prefix ? "always" : "never", where);
  if (scheme != "always" && scheme != "first" && scheme != "never") {
    throw Error(ErrorCode::bad_format, "The prepend_scheme \"" + scheme + "\" is not known", where);
  }
  if (mark.empty()) throw Error(ErrorCode::bad_format, "Metaspace has an empty replacement", where);
  return [mark, scheme](PieceList& list) {
    for (Piece& piece : list.pieces) {
      std::string text;
      for (const char c : piece.text) c == ' ' ? text += mark : text += c;
      const bool wanted = scheme == "always" || (scheme == "first" && piece.at_start);
      if (wanted && text.rfind(mark, 0) != 0 && !(list.continuation && piece.at_start)) text.insert(0, mark);
      piece.text = list.made.emplace_back(std::move(text));
    }
  };
}

}  // namespace

PreTokenizer PreTokenizer::from_json(const nlohmann::json& json, const std::string& where) {
  PreTokenizer made;
  if (!json.is_null()) made.add(json, where, 0);
  return made;
}

PreTokenizer PreTokenizer::from_patterns(const std::vector<std::string>& patterns, const std::string& where) {
  PreTokenizer made;
  for (const std::string& pattern : patterns) {
    made.steps_.push_back(split_step(make_pattern({{"Regex", pattern}}, where), Behaviour::isolated, false));
  }
  made.byte_level_ = true;
  return made;
}

void PreTokenizer::apply(PieceList& list) const {
  for (const Step& step : steps_) step(list);
}

void PreTokenizer::add_byte_level(bool add_prefix_space, bool use_regex, const std::string& where) {
  if (add_prefix_space) {
    steps_.push_back([](PieceList& list) {
      for (Piece& piece : list.pieces) {
        if (piece.text.substr(0, 1) == " " || (list.continuation && piece.at_start)) continue;
        piece.text = list.made.emplace_back(" " + std::string(piece.text));
      }
    });
  }
  if (use_regex)
    steps_.push_back(split_step(make_pattern({{"Regex", kGpt2Pattern}}, where), Behaviour::isolated, false));
  byte_level_ = true;
}

void PreTokenizer::add(const nlohmann::json& json, const std::string& where, int depth) {
  if (depth > kMaxDepth) throw Error(ErrorCode::bad_format, "Pre-tokenizers are nested too deep", where);
  const std::string type = field_string(json, "type", {}, where);
  if (byte_level_)
    throw Error(ErrorCode::unsupported, "\"" + type + "\" after ByteLevel is not built", where);
  if (type == "Sequence") {
    for (const auto& part : field_array(json, "pretokenizers", where)) add(part, where, depth + 1);
  } else if (type == "ByteLevel") {
    add_byte_level(field_bool(json, "add_prefix_space", true, where),
                   field_bool(json, "use_regex", true, where), where);
  } else if (type == "Metaspace") {
    steps_.push_back(metaspace_step(json, where));
    if (field_bool(json, "split", true, where)) {
      const std::string mark = field_string(json, "replacement", "\xE2\x96\x81", where);
      steps_.push_back(
          split_step(make_pattern({{"String", mark}}, where), Behaviour::merged_with_next, false));
    }
  } else if (type == "Split") {
    steps_.push_back(split_step(make_pattern(field(json, "pattern"), where),
                                behaviour_named(field_string(json, "behavior", {}, where), where),
                                field_bool(json, "invert", false, where)));
  } else if (type == "Digits") {
    const bool single = field_bool(json, "individual_digits", false, where);
    steps_.push_back(
        split_step(each_char(is_numeric), single ? Behaviour::isolated : Behaviour::contiguous, false));
  } else if (type == "Punctuation") {
    steps_.push_back(split_step(each_char(is_punctuation),
                                behaviour_named(field_string(json, "behavior", "Isolated", where), where),
                                false));
  } else if (type == "Whitespace") {
    steps_.push_back(
        split_step(make_pattern({{"Regex", R"(\w+|[^\w\s]+)"}}, where), Behaviour::removed, true));
  } else if (type == "WhitespaceSplit") {
    steps_.push_back(split_step(each_char(is_space), Behaviour::removed, false));
  } else if (type == "BertPreTokenizer") {
    steps_.push_back(split_step(each_char(is_space), Behaviour::removed, false));
    steps_.push_back(split_step(each_char(is_punctuation), Behaviour::isolated, false));
  } else if (type == "CharDelimiterSplit") {
    steps_.push_back(split_step(make_pattern({{"String", field_string(json, "delimiter", {}, where)}}, where),
                                Behaviour::removed, false));
  } else {
    throw Error(ErrorCode::unsupported, "The pre-tokenizer \"" + type + "\" is not built", where);
  }
}

}  // namespace lorikeet
