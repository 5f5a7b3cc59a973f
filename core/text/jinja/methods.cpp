// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/methods.h"

#include <algorithm>
#include <unordered_map>

#include "core/base/utf8.h"
#include "core/text/jinja/characters.h"
#include "core/text/jinja/percent_format.h"

namespace lorikeet::jinja {
namespace {

using Method = Value (*)(Interpreter& interpreter, const Value& self, const Arguments& arguments);

class BoundMethod : public Callable {
 public:
  BoundMethod(Value self, Method method) : self_(std::move(self)), method_(method) {}
  Value call(Interpreter& interpreter, const Arguments& arguments) const override {
    return method_(interpreter, self_, arguments);
  }
  int depth() const override { return self_.depth() + 1; }

 private:
  Value self_;
  Method method_;
};

template <bool left, bool right>
Value strip_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string characters = ArgumentReader(interpreter, "strip", arguments, {"chars"}).text(0, "");
  interpreter.charge_search(self.text()->size(), characters.size());
  return interpreter.make_text(strip(*self.text(), characters, left, right));
}

template <LetterCase letter_case>
Value case_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "a method", arguments, {});
  interpreter.charge(static_cast<std::int64_t>(self.text()->size() / 8));
  return interpreter.make_text(change_case(*self.text(), letter_case));
}

template <bool from_right>
Value split_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "split", arguments, {"sep", "maxsplit"});
  const bool at_space = !reader.find(0) || reader.find(0)->is_none();
  const std::string separator = reader.text(0, "");
  if (!at_space && separator.empty()) interpreter.fail("split needs a separator that is not empty");
  return split(interpreter, *self.text(), at_space ? nullptr : &separator, reader.integer(1, -1), from_right);
}

Value splitlines(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const bool keep = ArgumentReader(interpreter, "splitlines", arguments, {"keepends"}).truth(0, false);
  const TaggedText& text = *self.text();
  interpreter.charge(self.weight());
  std::vector<Value> lines;
  std::size_t start = 0;
  while (start < text.size()) {
    const std::size_t end = std::min(text.view().find_first_of("\n\r\v\f\x1c\x1d\x1e", start), text.size());
    std::size_t next = std::min(end + 1, text.size());
    if (next < text.size() && text.view()[end] == '\r' && text.view()[next] == '\n') ++next;
    lines.emplace_back(text.slice(start, keep ? next : end));
    start = next;
  }
  return interpreter.make_list(std::move(lines));
}

/// startswith and endswith take one text or a tuple of them.
template <bool at_start>
Value affix_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, at_start ? "startswith" : "endswith", arguments, {"prefix"});
  const Value& wanted = reader.get(0);
  const std::string_view text = self.text()->view();
  const auto matches = [&](const Value& affix) {
    if (!affix.text())
      interpreter.fail(std::string("startswith and endswith need a text, not a ") + affix.type_name());
    interpreter.charge(affix.weight());
    return at_start ? text.starts_with(affix.text()->view()) : text.ends_with(affix.text()->view());
  };
  if (!wanted.list()) return matches(wanted);
  return std::any_of(wanted.list()->items.begin(), wanted.list()->items.end(), matches);
}

template <bool at_start>
Value remove_affix(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string affix = ArgumentReader(interpreter, "removeprefix", arguments, {"prefix"}).text(0, "");
  const TaggedText& text = *self.text();
  if (at_start && text.view().starts_with(affix))
    return interpreter.make_text(text.slice(affix.size(), text.size()));
  if (!at_start && text.view().ends_with(affix))
    return interpreter.make_text(text.slice(0, text.size() - affix.size()));
  return self;
}

Value replace_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "replace", arguments, {"old", "new", "count"});
  if (!reader.get(0).text() || !reader.get(1).text()) interpreter.fail("replace needs two texts");
  return interpreter.make_text(
      replace(interpreter, *self.text(), reader.text(0, ""), *reader.get(1).text(), reader.integer(2, -1)));
}

template <bool last>
Value find_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string wanted = ArgumentReader(interpreter, "find", arguments, {"sub"}).text(0, "");
  const std::string_view text = self.text()->view();
  interpreter.charge_search(text.size(), wanted.size());
  const std::size_t at = last ? text.rfind(wanted) : text.find(wanted);
  return at == std::string_view::npos ? std::int64_t{-1} : count_characters(text.substr(0, at));
}

Value count_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string wanted = ArgumentReader(interpreter, "count", arguments, {"sub"}).text(0, "");
  const std::string_view text = self.text()->view();
  interpreter.charge_search(text.size(), wanted.size());
  if (wanted.empty()) return count_characters(text) + 1;
  std::int64_t count = 0;
  for (std::size_t at = text.find(wanted); at != std::string_view::npos;
       at = text.find(wanted, at + wanted.size()))
    ++count;
  return count;
}

template <bool last>
Value partition(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const std::string separator = ArgumentReader(interpreter, "partition", arguments, {"sep"}).text(0, "");
  if (separator.empty()) interpreter.fail("partition needs a separator that is not empty");
  const TaggedText& text = *self.text();
  interpreter.charge_search(text.size(), separator.size());
  const std::size_t at = last ? text.view().rfind(separator) : text.view().find(separator);
  if (at == std::string::npos) {
    return interpreter.make_list(last ? std::vector<Value>{"", "", self} : std::vector<Value>{self, "", ""},
                                 true);
  }
  const std::size_t end = at + separator.size();
  return interpreter.make_list({text.slice(0, at), text.slice(at, end), text.slice(end, text.size())}, true);
}

Value join_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "join", arguments, {"iterable"});
  const auto list = interpreter.iterate(reader.get(0));
  for (const Value& item : list->items) {
    if (!item.text()) interpreter.fail(std::string("join needs texts, not a ") + item.type_name());
  }
  return interpreter.make_text(join(interpreter, *list, *self.text()));
}

Value format_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  return interpreter.make_text(brace_format(interpreter, *self.text(), arguments));
}

/// Every character has the property, and there is one.
template <bool (*property)(std::uint32_t)>
Value all_method(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "a method", arguments, {});
  interpreter.charge(static_cast<std::int64_t>(self.text()->size() / 8));
  for (std::size_t at = 0; at < self.text()->size();) {
    if (!property(next_code_point(self.text()->view(), at))) return false;
  }
  return !self.text()->empty();
}

bool is_alphanumeric(std::uint32_t code_point) {
  return is_letter(code_point) || is_digit(code_point);
}

/// There is a letter with case, and all of them have this one.
template <bool (*right)(std::uint32_t), bool (*wrong)(std::uint32_t)>
Value one_case(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "a method", arguments, {});
  interpreter.charge(static_cast<std::int64_t>(self.text()->size() / 8));
  bool found = false;
  for (std::size_t at = 0; at < self.text()->size();) {
    const std::uint32_t code_point = next_code_point(self.text()->view(), at);
    if (wrong(code_point)) return false;
    found |= right(code_point);
  }
  return found;
}

Value dict_get(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "get", arguments, {"key", "default"});
  interpreter.charge(std::ssize(self.dict()->items) / 16);
  if (const Value* found = self.dict()->find(reader.get(0))) return *found;
  return reader.find(1) ? *reader.find(1) : Value(None{});
}

Value dict_items(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> pairs;
  for (const auto& [key, value] : self.dict()->items)
    pairs.push_back(interpreter.make_list({key, value}, true));
  return interpreter.make_list(std::move(pairs));
}

template <bool keys>
Value dict_parts(Interpreter& interpreter, const Value& self, const Arguments&) {
  std::vector<Value> parts;
  for (const auto& [key, value] : self.dict()->items) parts.push_back(keys ? key : value);
  return interpreter.make_list(std::move(parts));
}

Value same(Interpreter&, const Value& self, const Arguments&) {
  return self;
}

Value list_count(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "count", arguments, {"value"});
  interpreter.charge(self.weight());
  const std::vector<Value>& items = self.list()->items;
  return std::int64_t{
      std::count_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, reader.get(0)); })};
}

Value list_index(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "index", arguments, {"value"});
  interpreter.charge(self.weight());
  const std::vector<Value>& items = self.list()->items;
  const auto at =
      std::find_if(items.begin(), items.end(), [&](const Value& v) { return equal(v, reader.get(0)); });
  if (at == items.end()) interpreter.fail("the value is not in the list");
  return std::int64_t{at - items.begin()};
}

using Methods = std::unordered_map<std::string_view, Method>;

const Methods& text_methods() {
  static const Methods methods = {
      {"strip", strip_method<true, true>},
      {"lstrip", strip_method<true, false>},
      {"rstrip", strip_method<false, true>},
      {"split", split_method<false>},
      {"rsplit", split_method<true>},
      {"splitlines", splitlines},
      {"startswith", affix_method<true>},
      {"endswith", affix_method<false>},
      {"removeprefix", remove_affix<true>},
      {"removesuffix", remove_affix<false>},
      {"replace", replace_method},
      {"upper", case_method<LetterCase::upper>},
      {"lower", case_method<LetterCase::lower>},
      {"capitalize", case_method<LetterCase::capitalized>},
      {"title", case_method<LetterCase::title>},
      {"find", find_method<false>},
      {"rfind", find_method<true>},
      {"count", count_method},
      {"partition", partition<false>},
      {"rpartition", partition<true>},
      {"join", join_method},
      {"format", format_method},
      {"isspace", all_method<is_python_space>},
      {"isdigit", all_method<is_digit>},
      {"isdecimal", all_method<is_digit>},
      {"isnumeric", all_method<is_digit>},
      {"isalpha", all_method<is_letter>},
      {"isalnum", all_method<is_alphanumeric>},
      {"isupper", one_case<is_upper, is_lower>},
      {"islower", one_case<is_lower, is_upper>},
  };
  return methods;
}

const Methods& dict_methods() {
  static const Methods methods = {{"get", dict_get},
                                  {"items", dict_items},
                                  {"keys", dict_parts<true>},
                                  {"values", dict_parts<false>},
                                  {"copy", same}};
  return methods;
}

const Methods& list_methods() {
  static const Methods methods = {{"count", list_count}, {"index", list_index}, {"copy", same}};
  return methods;
}

}  // namespace

std::shared_ptr<const Callable> bind_method(const Value& self, const std::string& name) {
  const Methods* methods = nullptr;
  if (self.text())
    methods = &text_methods();
  else if (self.dict())
    methods = &dict_methods();
  else if (self.list())
    methods = &list_methods();
  else
    return nullptr;
  const auto found = methods->find(name);
  return found == methods->end() ? nullptr : std::make_shared<const BoundMethod>(self, found->second);
}

}  // namespace lorikeet::jinja
