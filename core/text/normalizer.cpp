// SPDX-License-Identifier: Apache-2.0
#include "core/text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/base/utf8.h"
#include "core/text/json_fields.h"
#include "core/text/regex.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr int kMaxDepth = 16;

/// One of Unicode's four normal forms.
std::string unicode_form(std::string_view text, utf8proc_option_t form) {
  utf8proc_uint8_t* made = nullptr;
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | form);
  const utf8proc_ssize_t length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                               static_cast<utf8proc_ssize_t>(text.size()), &made, options);
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, std::free);
  if (length < 0) throw Error(ErrorCode::out_of_memory, "Cannot normalise a text", utf8proc_errmsg(length));
  return {reinterpret_cast<const char*>(made), static_cast<std::size_t>(length)};
}

/// Below U+0300 every character is its own NFC, and below U+0080 of every form.
bool all_below(std::string_view text, unsigned char lead) {
  return std::none_of(text.begin(), text.end(),
                      [&](char c) { return static_cast<unsigned char>(c) >= lead; });
}

std::string replace_all(std::string_view text, const MatchFinder& find, const std::string& content) {
  std::string out;
  std::size_t done = 0;
  find(text, [&](std::size_t begin, std::size_t end) {
    out.append(text, done, begin - done).append(content);
    done = end;
  });
  return out.append(text, done);
}

template <typename Map>
std::string map_chars(std::string_view text, const Map& map) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = utf8_at(text, at);
    map(c.code, out);
    at += c.bytes;
  }
  return out;
}

void lower_char(char32_t code, std::string& out) {
  if (code == 0x130) {  // the one letter whose lower case is two characters
    out += "i\xCC\x87";
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  }
}

std::string strip(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && is_space(utf8_at(text, 0).code)) text.remove_prefix(utf8_at(text, 0).bytes);
  while (right && !text.empty() && is_space(utf8_before(text, text.size()).code)) {
    text.remove_suffix(utf8_before(text, text.size()).bytes);
  }
  return std::string(text);
}

}  // namespace

MatchFinder make_pattern(const nlohmann::json& pattern, const std::string& where) {
  const std::string regex = field_string(pattern, "Regex", {}, where);
  if (!regex.empty()) {
    auto compiled = std::make_shared<const Regex>(regex, where);
    return [compiled](std::string_view text, const auto& found) { compiled->for_each(text, found); };
  }
  const std::string literal =
      pattern.is_string() ? pattern.get<std::string>() : field_string(pattern, "String", {}, where);
  if (literal.empty())
    throw Error(ErrorCode::bad_format, "\"pattern\" is neither a String nor a Regex", where);
  return [literal](std::string_view text, const auto& found) {
    for (std::size_t at = text.find(literal); at != std::string_view::npos; at = text.find(literal, at)) {
      found(at, at + literal.size());
      at += literal.size();
    }
  };
}

Normalizer Normalizer::from_json(const nlohmann::json& json, const std::string& where) {
  Normalizer normalizer;
  if (!json.is_null()) normalizer.add(json, where, 0);
  return normalizer;
}

std::string Normalizer::apply(std::string_view text, bool continuation) const {
  std::string out(text);
  for (const Step& step : steps_) step(out, continuation);
  return out;
}

void Normalizer::add(const nlohmann::json& json, const std::string& where, int depth) {
  if (depth > kMaxDepth) throw Error(ErrorCode::bad_format, "Normalizers are nested too deep", where);
  const std::string type = field_string(json, "type", {}, where);
  const auto form = [&](int options) {
    steps_.push_back([options](std::string& text, bool) {
      const bool composed = options == UTF8PROC_COMPOSE;
      if (all_below(text, composed ? 0xCC : 0x80)) return;
      text = unicode_form(text, static_cast<utf8proc_option_t>(options));
    });
  };
  if (type == "Sequence") {
    for (const auto& part : field_array(json, "normalizers", where)) add(part, where, depth + 1);
  } else if (type == "NFC") {
    form(UTF8PROC_COMPOSE);
  } else if (type == "NFD") {
    form(UTF8PROC_DECOMPOSE);
  } else if (type == "NFKC") {
    form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
  } else if (type == "NFKD") {
    form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
  } else if (type == "Prepend") {
    steps_.push_back(
        [prefix = field_string(json, "prepend", {}, where)](std::string& text, bool continuation) {
          if (!text.empty() && !continuation) text.insert(0, prefix);
        });
  } else if (type == "Replace") {
    steps_.push_back([find = make_pattern(field(json, "pattern"), where),
                      content = field_string(json, "content", {}, where)](std::string& text, bool) {
      text = replace_all(text, find, content);
    });
  } else if (type == "Strip") {
    steps_.push_back([left = field_bool(json, "strip_left", true, where),
                      right = field_bool(json, "strip_right", true, where)](std::string& text, bool) {
      text = strip(text, left, right);
    });
  } else if (type == "Lowercase") {
    steps_.push_back([](std::string& text, bool) { text = map_chars(text, lower_char); });
  } else if (type == "StripAccents") {
    steps_.push_back([](std::string& text, bool) {
      text = map_chars(text, [](char32_t code, std::string& out) {
        if (!is_mark(code)) append_utf8(out, code);
      });
    });
  } else {
    throw Error(ErrorCode::unsupported, "The normalizer \"" + type + "\" is not built", where);
  }
}

}  // namespace lorikeet
