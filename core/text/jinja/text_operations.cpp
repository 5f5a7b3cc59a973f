// SPDX-License-Identifier: Apache-2.0
// Cutting and joining texts: what methods, filters and operators share.
#include <algorithm>

#include "core/base/utf8.h"
#include "core/text/jinja/characters.h"
#include "core/text/jinja/methods.h"
#include "core/text/jinja/percent_format.h"

namespace lorikeet::jinja {
namespace {

/// Where the next separator stands in text[from, to); npos when there is none. Sets its length.
std::size_t find_separator(std::string_view text, std::size_t from, std::size_t to,
                           const std::string* separator, std::size_t& length) {
  if (separator) {
    length = separator->size();
    const std::size_t at = text.find(*separator, from);
    return at == std::string_view::npos || at + length > to ? std::string_view::npos : at;
  }
  for (std::size_t at = from; at < to;) {
    const std::size_t start = at;
    if (!is_python_space(next_code_point(text, at))) continue;
    length = at - start;
    return start;
  }
  return std::string_view::npos;
}

}  // namespace

TaggedText repeat(Interpreter& interpreter, const TaggedText& text, std::int64_t count) {
  if (!text.empty() && count > static_cast<std::int64_t>(max_text_bytes / text.size())) {
    interpreter.fail("a text larger than 4 MiB");
  }
  if (!text.empty()) interpreter.charge(std::max<std::int64_t>(count, 0) / 16);
  TaggedText result;
  for (std::int64_t i = 0; i < count && !text.empty(); ++i) result.append(text);
  return result;
}

Value repeat(Interpreter& interpreter, const List& list, std::int64_t count) {
  const std::int64_t length = std::ssize(list.items);
  if (length > 0 && count > Interpreter::max_value_weight / length) interpreter.fail("a list is too large");
  std::vector<Value> items;
  for (std::int64_t i = 0; i < count && length > 0; ++i)
    items.insert(items.end(), list.items.begin(), list.items.end());
  return interpreter.make_list(std::move(items), list.is_tuple);
}

Value split(Interpreter& interpreter, const TaggedText& text, const std::string* separator,
            std::int64_t limit, bool from_right) {
  interpreter.charge_search(text.size(), separator ? separator->size() : 64);
  std::vector<std::pair<std::size_t, std::size_t>> cuts;  // begin and end of each separator
  std::size_t length = 0;
  for (std::size_t at = 0;
       (at = find_separator(text.view(), at, text.size(), separator, length)) != std::string_view::npos;
       at += length) {
    if (!separator && !cuts.empty() && cuts.back().second == at)
      cuts.back().second = at + length;
    else
      cuts.emplace_back(at, at + length);
  }
  std::size_t begin = 0, end = text.size();
  if (!separator) {  // white space at the ends separates nothing
    if (!cuts.empty() && cuts.back().second == end) {
      end = cuts.back().first;
      cuts.pop_back();
    }
    if (!cuts.empty() && cuts.front().first == 0) {
      begin = cuts.front().second;
      cuts.erase(cuts.begin());
    }
  }
  if (limit >= 0 && std::ssize(cuts) > limit) {
    if (from_right)
      cuts.erase(cuts.begin(), cuts.end() - limit);
    else
      cuts.resize(static_cast<std::size_t>(limit));
    if (!separator) (from_right ? begin : end) = from_right ? 0 : text.size();
  }
  std::vector<Value> parts;
  if (!separator && begin >= end) return interpreter.make_list({});
  for (const auto& [from, to] : cuts) {
    parts.push_back(interpreter.make_text(text.slice(begin, from)));
    begin = to;
  }
  parts.push_back(interpreter.make_text(text.slice(begin, end)));
  interpreter.charge(std::ssize(parts));
  return interpreter.make_list(std::move(parts));
}

TaggedText join(Interpreter& interpreter, const List& list, const TaggedText& separator) {
  TaggedText text;
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    if (i > 0) text.append(separator);
    text.append(interpreter.text_of(list.items[i]));
    if (text.size() > max_text_bytes) interpreter.fail("a text larger than 4 MiB");
    interpreter.charge(1 + static_cast<std::int64_t>(separator.size() / 64));
  }
  return text;
}

TaggedText replace(Interpreter& interpreter, const TaggedText& text, const std::string& from,
                   const TaggedText& to, std::int64_t limit) {
  interpreter.charge_search(text.size(), from.size());
  TaggedText result;
  std::size_t done = 0, at = 0;
  for (std::int64_t count = 0; limit < 0 || count < limit; ++count) {
    at = text.view().find(from, at);
    if (at == std::string_view::npos) break;
    result.append(text, done, at);
    result.append(to);
    interpreter.charge(1 + static_cast<std::int64_t>(to.size() / 64));
    if (result.size() > max_text_bytes) interpreter.fail("a text larger than 4 MiB");
    done = at + from.size();
    if (from.empty()) {  // stands before every character and at the end
      if (at == text.size()) break;
      next_code_point(text.view(), at);
    } else {
      at = done;
    }
  }
  result.append(text, done, text.size());
  return result;
}

TaggedText percent_format(Interpreter& interpreter, const TaggedText& pattern, const Value& values) {
  TaggedText result;
  std::size_t used = 0;
  const std::string_view view = pattern.view();
  const auto take = [&]() -> Value {
    const bool several = values.list() && values.list()->is_tuple;
    if (used >= (several ? values.list()->items.size() : 1))
      interpreter.fail("too few values for a text with %");
    return several ? values.list()->items[used++] : (++used, values);
  };
  for (std::size_t at = 0; at < view.size();) {
    const std::size_t sign = std::min(view.find('%', at), view.size());
    result.append(pattern, at, sign);
    if (sign == view.size()) break;
    const std::size_t kind_at = view.find_first_not_of("0123456789.", sign + 1);
    if (kind_at == std::string_view::npos) interpreter.fail("a text with a % at its end");
    const std::string_view width = view.substr(sign + 1, kind_at - sign - 1);
    const char kind = view[kind_at];
    at = kind_at + 1;
    if (kind == '%' && width.empty()) {
      result.append("%");
      continue;
    }
    const bool decimals = kind == 'f' && width.size() == 2 && width[0] == '.';
    if (std::string_view("srdif").find(kind) == std::string_view::npos || (!width.empty() && !decimals)) {
      interpreter.fail("a text with % that is not understood");
    }
    const Value value = take();
    if (kind == 's' || kind == 'r') {
      result.append(kind == 's' ? interpreter.text_of(value) : interpreter.repr_of(value));
    } else if (!value.is_number()) {
      interpreter.fail("a text with % needs a number");
    } else if (kind == 'f') {
      char buffer[400];
      const int count =
          std::snprintf(buffer, sizeof buffer, "%.*f", decimals ? width[1] - '0' : 6, value.as_real());
      result.append(std::string_view(buffer, static_cast<std::size_t>(count)));
    } else {
      std::int64_t whole = 0;
      if (!value.as_integer(whole))
        whole = static_cast<std::int64_t>(std::clamp(value.as_real(), -9e18, 9e18));
      result.append(std::to_string(whole));
    }
    if (result.size() > max_text_bytes) interpreter.fail("a text larger than 4 MiB");
  }
  if (values.list() && values.list()->is_tuple && used < values.list()->items.size()) {
    interpreter.fail("too many values for a text with %");
  }
  return result;
}

TaggedText brace_format(Interpreter& interpreter, const TaggedText& pattern, const Arguments& arguments) {
  TaggedText result;
  std::size_t next = 0;
  const std::string_view view = pattern.view();
  for (std::size_t at = 0; at < view.size();) {
    const std::size_t brace = std::min(view.find_first_of("{}", at), view.size());
    result.append(pattern, at, brace);
    if (brace == view.size()) break;
    if (brace + 1 < view.size() && view[brace + 1] == view[brace]) {
      result.append(view.substr(brace, 1));
      at = brace + 2;
      continue;
    }
    const std::size_t end = view.find('}', brace);
    if (view[brace] == '}' || end == std::string_view::npos)
      interpreter.fail("a text for format has a single brace");
    const std::string name(view.substr(brace + 1, end - brace - 1));
    at = end + 1;
    const Value* value = nullptr;
    if (name.find_first_not_of("0123456789") == std::string::npos && name.size() < 4) {
      const std::size_t index = name.empty() ? next++ : static_cast<std::size_t>(std::stoi(name));
      if (index < arguments.positional.size()) value = &arguments.positional[index];
    }
    for (const auto& [known, given] : arguments.keyword) {
      if (known == name) value = &given;
    }
    if (!value) interpreter.fail("format has no value for \"{" + name + "}\"");
    result.append(interpreter.text_of(*value));
    if (result.size() > max_text_bytes) interpreter.fail("a text larger than 4 MiB");
  }
  return result;
}

}  // namespace lorikeet::jinja
