// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <unordered_map>

#include "core/text/jinja/characters.h"
#include "core/text/jinja/filters.h"
#include "core/text/jinja/methods.h"
#include "core/text/jinja/percent_format.h"

namespace lorikeet::jinja {
namespace {

Value trim(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const std::string characters = ArgumentReader(interpreter, "trim", arguments, {"chars"}).text(0, "");
  const TaggedText text = interpreter.text_of(subject);
  interpreter.charge_search(text.size(), characters.size());
  return interpreter.make_text(strip(text, characters, true, true));
}

template <LetterCase letter_case>
Value change(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "this filter", arguments, {});
  const TaggedText text = interpreter.text_of(subject);
  interpreter.charge(static_cast<std::int64_t>(text.size() / 8));
  return interpreter.make_text(change_case(text, letter_case));
}

Value to_string(Interpreter& interpreter, const Value& subject, const Arguments&) {
  return subject.text() ? subject : interpreter.make_text(interpreter.text_of(subject));
}

Value replace_filter(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "replace", arguments, {"old", "new", "count"});
  const TaggedText from = interpreter.text_of(reader.get(0)), to = interpreter.text_of(reader.get(1));
  return interpreter.make_text(
      replace(interpreter, interpreter.text_of(subject), from.text(), to, reader.integer(2, -1)));
}

Value indent(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "indent", arguments, {"width", "first", "blank"});
  const Value* width = reader.find(0);
  const TaggedText margin =
      width && width->text() ? *width->text() : repeat(interpreter, TaggedText(" "), reader.integer(0, 4));
  const bool first = reader.truth(1, false), blank = reader.truth(2, false);
  const TaggedText text = interpreter.text_of(subject);
  TaggedText result;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(text.view().find('\n', at), text.size());
    if (at == 0 ? first : blank || end > at) result.append(margin);
    result.append(text, at, end);
    interpreter.charge(1 + static_cast<std::int64_t>(margin.size() / 64));
    if (result.size() > max_text_bytes) interpreter.fail("a text larger than 4 MiB");
    if (end == text.size()) break;
    result.append("\n");
    at = end + 1;
  }
  return interpreter.make_text(std::move(result));
}

Value to_json_filter(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "tojson", arguments,
                              {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = reader.truth(0, false);
  style.indent = static_cast<int>(std::min<std::int64_t>(reader.integer(1, -1), 100));
  style.sort_keys = reader.truth(3, false);
  if (style.indent >= 0) style.item_separator.resize(1);  // Python leaves the space out then
  if (const Value* separators = reader.find(2); separators && !separators->is_none()) {
    const auto pair = interpreter.iterate(*separators);
    if (pair->items.size() != 2 || !pair->items[0].text() || !pair->items[1].text()) {
      interpreter.fail("separators of tojson are two texts");
    }
    style.item_separator = pair->items[0].text()->text();
    style.key_separator = pair->items[1].text()->text();
  }
  interpreter.charge(subject.weight());
  try {
    return interpreter.make_text(to_json(subject, style));
  } catch (const std::logic_error& error) {
    interpreter.fail(error.what());
  }
}

Value escape(Interpreter& interpreter, const Value& subject, const Arguments&) {
  TaggedText text = interpreter.text_of(subject);
  constexpr std::pair<const char*, const char*> marks[] = {
      {"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {"\"", "&#34;"}};
  for (const auto& [from, to] : marks) text = replace(interpreter, text, from, TaggedText(to), -1);
  return interpreter.make_text(std::move(text));
}

Value format_filter(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  if (!arguments.keyword.empty()) interpreter.fail("format takes values by position only");
  return interpreter.make_text(percent_format(interpreter, interpreter.text_of(subject),
                                              interpreter.make_list(arguments.positional, true)));
}

Value word_count(Interpreter& interpreter, const Value& subject, const Arguments&) {
  return interpreter.length(split(interpreter, interpreter.text_of(subject), nullptr, -1, false));
}

std::string_view stripped(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(" \t\n\r"), text.size());
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(" \t\n\r") + 1);
}

bool parse_real(std::string_view text, double& value) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value);
  return result.ec == std::errc{} && result.ptr == text.data() + text.size();
}

Value to_int(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "int", arguments, {"default", "base"});
  const Value fallback = reader.find(0) ? *reader.find(0) : Value(std::int64_t{0});
  std::int64_t whole = 0;
  if (subject.as_integer(whole)) return whole;
  double real = subject.real() ? *subject.real() : 0;
  if (subject.text()) {
    std::string_view text = stripped(subject.text()->view());
    if (text.starts_with('+')) text.remove_prefix(1);
    const int base = static_cast<int>(std::clamp<std::int64_t>(reader.integer(1, 10), 2, 36));
    const auto result = std::from_chars(text.data(), text.data() + text.size(), whole, base);
    if (!text.empty() && result.ec == std::errc{} && result.ptr == text.data() + text.size()) return whole;
    if (!parse_real(text, real)) return fallback;
  } else if (!subject.real()) {
    return fallback;
  }
  return std::abs(real) < 9.2e18 ? Value(static_cast<std::int64_t>(real)) : fallback;
}

Value to_float(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "float", arguments, {"default"});
  if (subject.is_number()) return subject.as_real();
  double real = 0;
  if (subject.text() && parse_real(stripped(subject.text()->view()), real)) return real;
  return reader.find(0) ? *reader.find(0) : Value(0.0);
}

Value absolute(Interpreter& interpreter, const Value& subject, const Arguments&) {
  if (!subject.is_number()) interpreter.fail(std::string("abs needs a number, not a ") + subject.type_name());
  std::int64_t whole = 0;
  if (!subject.as_integer(whole)) return std::abs(subject.as_real());
  return whole < 0 ? interpreter.arithmetic(Operator::subtract, std::int64_t{0}, whole) : Value(whole);
}

Value round(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "round", arguments, {"precision", "method"});
  if (!subject.is_number())
    interpreter.fail(std::string("round needs a number, not a ") + subject.type_name());
  const std::string method = reader.text(1, "common");
  const auto digits = static_cast<int>(std::clamp<std::int64_t>(reader.integer(0, 0), -300, 300));
  const double scale = std::pow(10.0, digits), value = subject.as_real();
  if (method == "ceil") return std::ceil(value * scale) / scale;
  if (method == "floor") return std::floor(value * scale) / scale;
  if (method != "common") interpreter.fail("round knows common, ceil and floor");
  if (digits < 0) return std::nearbyint(value * scale) / scale;
  char buffer[700];  // the nearest decimal of the exact value, as Python's round() gives it
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits);
  double rounded = value;
  if (end.ec == std::errc{}) std::from_chars(buffer, end.ptr, rounded);
  return rounded;
}

}  // namespace

Filter find_text_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Filter> filters = {
      {"trim", trim},
      {"upper", change<LetterCase::upper>},
      {"lower", change<LetterCase::lower>},
      {"capitalize", change<LetterCase::capitalized>},
      {"title", change<LetterCase::words>},
      {"string", to_string},
      {"safe", to_string},
      {"replace", replace_filter},
      {"indent", indent},
      {"tojson", to_json_filter},
      {"escape", escape},
      {"e", escape},
      {"format", format_filter},
      {"wordcount", word_count},
      {"int", to_int},
      {"float", to_float},
      {"abs", absolute},
      {"round", round},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

}  // namespace lorikeet::jinja
