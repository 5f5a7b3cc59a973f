// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <stdexcept>

#include "core/base/utf8.h"
#include "core/text/jinja/characters.h"

namespace lorikeet::jinja {
namespace {

void check_size(const TaggedText& text) {
  if (text.size() > max_text_bytes) throw std::length_error("a text larger than 4 MiB");
}

std::string hex_escape(const char* format, std::uint32_t value) {
  char buffer[16];
  std::snprintf(buffer, sizeof buffer, format, value);
  return buffer;
}

/// Writes a value into a text that grows: repr() and JSON share the walk.
class Writer {
 public:
  explicit Writer(const JsonStyle* json) : json_(json) {}

  void write(const Value& value);
  TaggedText take() { return std::move(out_); }

 private:
  void write_list(const List& list);
  void write_dict(const Dict& dict);
  void write_text(const TaggedText& text);
  void write_escaped(const TaggedText& text, char quote);
  std::string escape(std::uint32_t code_point, char quote) const;
  void line(int level);

  const JsonStyle* json_;
  TaggedText out_;
  int level_ = 0;
};

void Writer::line(int level) {
  if (!json_ || json_->indent < 0) return;
  out_.append("\n" + std::string(static_cast<std::size_t>(level * json_->indent), ' '));
}

void Writer::write(const Value& value) {
  check_size(out_);
  if (value.is_none()) {
    out_.append(json_ ? "null" : "None");
  } else if (const bool* truth = value.boolean()) {
    out_.append(json_ ? (*truth ? "true" : "false") : (*truth ? "True" : "False"));
  } else if (const std::int64_t* number = value.integer()) {
    out_.append(std::to_string(*number));
  } else if (const double* real = value.real()) {
    const bool finite = std::isfinite(*real);
    out_.append(json_ && !finite ? (std::isnan(*real) ? "NaN"
                                    : *real > 0       ? "Infinity"
                                                      : "-Infinity")
                                 : float_text(*real));
  } else if (value.text()) {
    write_text(*value.text());
  } else if (value.list()) {
    write_list(*value.list());
  } else if (value.dict()) {
    write_dict(*value.dict());
  } else if (json_) {
    throw std::invalid_argument(std::string("a value of type ") + value.type_name() +
                                " cannot be written as JSON");
  } else if (!value.is_undefined()) {
    out_.append(std::string("<") + value.type_name() + ">");
  } else {
    out_.append("Undefined");
  }
}

void Writer::write_list(const List& list) {
  const bool round = list.is_tuple && !json_;
  out_.append(round ? "(" : "[");
  ++level_;
  const std::string separator = json_ ? json_->item_separator : ", ";
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) out_.append(separator);
    line(level_);
    write(list.items[i]);
  }
  --level_;
  if (!list.items.empty()) line(level_);
  if (round && list.items.size() == 1) out_.append(",");
  out_.append(round ? ")" : "]");
}

void Writer::write_dict(const Dict& dict) {
  std::vector<std::size_t> order(dict.items.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (json_ && json_->sort_keys) {
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      bool comparable = false;
      return compare(dict.items[a].first, dict.items[b].first, comparable) < 0;
    });
  }
  out_.append("{");
  ++level_;
  bool first = true;
  for (const std::size_t index : order) {
    const auto& [key, value] = dict.items[index];
    if (!first) out_.append(json_ ? json_->item_separator : ", ");
    first = false;
    line(level_);
    if (json_ && !key.text()) {
      if (key.list() || key.dict()) throw std::invalid_argument("only plain values can be keys of JSON");
      write_escaped(to_json(key, *json_), '"');
    } else {
      write(key);
    }
    out_.append(json_ ? json_->key_separator : ": ");
    write(value);
  }
  --level_;
  if (!dict.items.empty()) line(level_);
  out_.append("}");
}

void Writer::write_text(const TaggedText& text) {
  const bool apostrophe = text.view().find('\'') != std::string_view::npos;
  const bool double_quote = text.view().find('"') != std::string_view::npos;
  write_escaped(text, json_ || (apostrophe && !double_quote) ? '"' : '\'');
}

void Writer::write_escaped(const TaggedText& text, char quote) {
  out_.append(std::string_view(&quote, 1));
  std::size_t done = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t start = at;
    const std::uint32_t c = next_code_point(text.view(), at);
    if (c >= 0x20 && c < 0x7F && c != '\\' && c != static_cast<unsigned char>(quote)) continue;
    const std::string escaped = escape(c, quote);
    if (escaped.empty()) continue;
    out_.append(text, done, start);
    out_.append_like(escaped, text, start);
    done = at;
    check_size(out_);
  }
  out_.append(text, done, text.size());
  out_.append(std::string_view(&quote, 1));
}

/// What stands for a character, "" for itself.
std::string Writer::escape(std::uint32_t c, char quote) const {
  if (c == '\\' || c == static_cast<unsigned char>(quote)) return std::string("\\") + static_cast<char>(c);
  if (c == '\n') return "\\n";
  if (c == '\r') return "\\r";
  if (c == '\t') return "\\t";
  if (json_) {
    if (c == '\b') return "\\b";
    if (c == '\f') return "\\f";
    if (c < 0x20) return hex_escape("\\u%04x", c);
    if (!json_->ensure_ascii || c < 0x7F) return {};
    if (c < 0x10000) return hex_escape("\\u%04x", c);
    return hex_escape("\\u%04x", 0xD800 + ((c - 0x10000) >> 10)) +
           hex_escape("\\u%04x", 0xDC00 + ((c - 0x10000) & 0x3FF));
  }
  if (is_printable(c)) return {};
  return c < 0x100     ? hex_escape("\\x%02x", c)
         : c < 0x10000 ? hex_escape("\\u%04x", c)
                       : hex_escape("\\U%08x", c);
}

}  // namespace

std::string float_text(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::scientific).ptr;
  const std::string scientific(buffer, end);
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  if (exponent < -4 || exponent >= 16) return scientific;
  end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed).ptr;
  std::string fixed(buffer, end);
  if (fixed.find('.') == std::string::npos) fixed += ".0";
  return fixed;
}

TaggedText to_text(const Value& value) {
  if (value.text()) return *value.text();
  if (value.is_undefined()) return {};
  return to_repr(value);
}

TaggedText to_repr(const Value& value) {
  Writer writer(nullptr);
  writer.write(value);
  TaggedText text = writer.take();
  check_size(text);
  return text;
}

TaggedText to_json(const Value& value, const JsonStyle& style) {
  Writer writer(&style);
  writer.write(value);
  TaggedText text = writer.take();
  check_size(text);
  return text;
}

}  // namespace lorikeet::jinja
