// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "core/text/jinja/characters.h"
#include "core/text/jinja/filters.h"
#include "core/text/jinja/methods.h"

namespace lorikeet::jinja {
namespace {

/// The member of `value` that a dotted path such as "function.name" names.
Value member_at(Interpreter& interpreter, Value value, const std::string& path) {
  std::size_t at = 0;
  while (at <= path.size()) {
    const std::size_t dot = std::min(path.find('.', at), path.size());
    const std::string name = path.substr(at, dot - at);
    const bool index =
        !name.empty() && name.size() < 10 && name.find_first_not_of("0123456789") == std::string::npos;
    value = interpreter.item(value, index ? Value(std::int64_t{std::stoi(name)}) : Value(name));
    at = dot + 1;
  }
  return value;
}

/// What select, reject and map hand on: the arguments after the name.
Arguments rest(const Arguments& arguments, std::size_t from) {
  Arguments more;
  for (std::size_t i = from; i < arguments.positional.size(); ++i)
    more.positional.push_back(arguments.positional[i]);
  more.keyword = arguments.keyword;
  return more;
}

std::string name_at(Interpreter& interpreter, const Arguments& arguments, std::size_t index,
                    const char* filter) {
  if (index >= arguments.positional.size() || !arguments.positional[index].text()) {
    interpreter.fail(std::string(filter) + " needs a name in quotes");
  }
  return arguments.positional[index].text()->text();
}

/// select, reject: by a test; selectattr, rejectattr: by a test of a member.
template <bool by_member, bool keep>
Value pick(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const std::string member = by_member ? name_at(interpreter, arguments, 0, "selectattr") : std::string();
  const std::size_t test_at = by_member ? 1 : 0;
  Test test = nullptr;
  if (test_at < arguments.positional.size()) {
    const std::string name = name_at(interpreter, arguments, test_at, "select");
    test = find_test(name);
    if (!test) interpreter.fail("there is no test \"" + name + "\"");
  }
  const Arguments more = rest(arguments, test_at + 1);
  std::vector<Value> kept;
  const auto list = interpreter.iterate(subject);
  for (const Value& item : list->items) {
    interpreter.charge(2);
    const Value value = by_member ? member_at(interpreter, item, member) : item;
    if ((test ? test(interpreter, value, more) : value.is_true()) == keep) kept.push_back(item);
  }
  return interpreter.make_list(std::move(kept));
}

Value map(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  std::string member;
  Value fallback;
  for (const auto& [name, value] : arguments.keyword) {
    if (name == "attribute") member = interpreter.text_of(value).text();
    if (name == "default") fallback = value;
  }
  const std::string filter_name = member.empty() ? name_at(interpreter, arguments, 0, "map") : std::string();
  const Filter filter = member.empty() ? find_filter(filter_name) : nullptr;
  if (member.empty() && !filter) interpreter.fail("there is no filter \"" + filter_name + "\"");
  const Arguments more = rest(arguments, 1);
  std::vector<Value> made;
  const auto list = interpreter.iterate(subject);
  for (const Value& item : list->items) {
    interpreter.charge(2);
    Value value = filter ? filter(interpreter, item, more) : member_at(interpreter, item, member);
    made.push_back(value.is_undefined() && !fallback.is_undefined() ? fallback : value);
  }
  return interpreter.make_list(std::move(made));
}

Value length(Interpreter& interpreter, const Value& subject, const Arguments&) {
  return interpreter.length(subject);
}

Value first(Interpreter& interpreter, const Value& subject, const Arguments&) {
  const auto list = interpreter.iterate(subject);
  return list->items.empty() ? Value::undefined("there is no first member") : list->items.front();
}

Value last(Interpreter& interpreter, const Value& subject, const Arguments&) {
  const auto list = interpreter.iterate(subject);
  return list->items.empty() ? Value::undefined("there is no last member") : list->items.back();
}

Value to_list(Interpreter& interpreter, const Value& subject, const Arguments&) {
  const auto list = interpreter.iterate(subject);
  return list->is_tuple ? interpreter.make_list(list->items) : Value(list);
}

Value join_filter(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "join", arguments, {"d", "attribute"});
  auto list = interpreter.iterate(subject);
  if (const std::string member = reader.text(1, ""); !member.empty()) {
    std::vector<Value> members;
    for (const Value& item : list->items) members.push_back(member_at(interpreter, item, member));
    list = interpreter.make_list(std::move(members)).shared_list();
  }
  const TaggedText separator = reader.find(0) ? interpreter.text_of(*reader.find(0)) : TaggedText();
  return interpreter.make_text(join(interpreter, *list, separator));
}

Value reverse(Interpreter& interpreter, const Value& subject, const Arguments&) {
  std::vector<Value> items = interpreter.iterate(subject)->items;
  std::reverse(items.begin(), items.end());
  const Value list = interpreter.make_list(std::move(items));
  return subject.text() ? interpreter.make_text(join(interpreter, *list.list(), {})) : list;
}

Value items(Interpreter& interpreter, const Value& subject, const Arguments&) {
  if (subject.is_undefined()) return interpreter.make_list({});
  if (!subject.dict()) interpreter.fail(std::string("items needs a dict, not a ") + subject.type_name());
  return interpreter.call(interpreter.attribute(subject, "items"), {});
}

/// sort, min, max, unique and dictsort compare texts without regard to case unless told otherwise.
Value sort_key(Interpreter& interpreter, const Value& value, const std::string& member, bool case_sensitive) {
  const Value key = member.empty() ? value : member_at(interpreter, value, member);
  if (case_sensitive || !key.text()) return key;
  interpreter.charge(static_cast<std::int64_t>(key.text()->size() / 8));
  return interpreter.make_text(change_case(*key.text(), LetterCase::lower));
}

std::vector<Value> sorted(Interpreter& interpreter, const std::vector<Value>& values,
                          const std::string& member, bool case_sensitive, bool backwards) {
  std::vector<std::pair<Value, Value>> keyed;
  for (const Value& value : values)
    keyed.emplace_back(sort_key(interpreter, value, member, case_sensitive), value);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    const int order = interpreter.order(a.first, b.first);
    return backwards ? order > 0 : order < 0;
  });
  std::vector<Value> result;
  for (auto& [key, value] : keyed) result.push_back(std::move(value));
  return result;
}

Value sort(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "sort", arguments, {"reverse", "case_sensitive", "attribute"});
  return interpreter.make_list(sorted(interpreter, interpreter.iterate(subject)->items, reader.text(2, ""),
                                      reader.truth(1, false), reader.truth(0, false)));
}

Value dict_sort(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "dictsort", arguments, {"case_sensitive", "by", "reverse"});
  const std::string by = reader.text(1, "key");
  if (by != "key" && by != "value") interpreter.fail("dictsort sorts by key or value");
  const Value pairs = items(interpreter, subject, {});
  return interpreter.make_list(sorted(interpreter, pairs.list()->items, by == "key" ? "0" : "1",
                                      reader.truth(0, false), reader.truth(2, false)));
}

Value unique(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "unique", arguments, {"case_sensitive", "attribute"});
  std::vector<Value> keys, kept;
  const auto list = interpreter.iterate(subject);
  for (const Value& item : list->items) {
    Value key = sort_key(interpreter, item, reader.text(1, ""), reader.truth(0, false));
    const bool known =
        std::any_of(keys.begin(), keys.end(), [&](const Value& k) { return interpreter.is_equal(k, key); });
    if (known) continue;
    keys.push_back(std::move(key));
    kept.push_back(item);
  }
  return interpreter.make_list(std::move(kept));
}

template <bool largest>
Value extreme(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "min and max", arguments, {"case_sensitive", "attribute"});
  const auto list = interpreter.iterate(subject);
  if (list->items.empty()) return Value::undefined("there is no smallest or largest member");
  return sorted(interpreter, list->items, reader.text(1, ""), reader.truth(0, false), largest).front();
}

Value sum(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "sum", arguments, {"attribute", "start"});
  Value total = reader.find(1) ? *reader.find(1) : Value(std::int64_t{0});
  const std::string member = reader.text(0, "");
  const auto list = interpreter.iterate(subject);
  for (const Value& item : list->items) {
    interpreter.charge(1);
    total = interpreter.arithmetic(Operator::add, total,
                                   member.empty() ? item : member_at(interpreter, item, member));
  }
  return total;
}

Value default_value(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "default", arguments, {"default_value", "boolean"});
  if (subject.is_undefined() || (reader.truth(1, false) && !subject.is_true())) {
    return reader.find(0) ? *reader.find(0) : Value("");
  }
  return subject;
}

Value member(Interpreter& interpreter, const Value& subject, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "attr", arguments, {"name"});
  return interpreter.attribute(subject, reader.text(0, ""));
}

}  // namespace

Filter find_list_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, Filter> filters = {
      {"length", length},
      {"count", length},
      {"first", first},
      {"last", last},
      {"list", to_list},
      {"join", join_filter},
      {"reverse", reverse},
      {"items", items},
      {"sort", sort},
      {"dictsort", dict_sort},
      {"unique", unique},
      {"min", extreme<false>},
      {"max", extreme<true>},
      {"sum", sum},
      {"map", map},
      {"select", pick<false, true>},
      {"reject", pick<false, false>},
      {"selectattr", pick<true, true>},
      {"rejectattr", pick<true, false>},
      {"default", default_value},
      {"d", default_value},
      {"attr", member},
  };
  const auto found = filters.find(name);
  return found == filters.end() ? nullptr : found->second;
}

Filter find_filter(std::string_view name) {
  const Filter filter = find_text_filter(name);
  return filter ? filter : find_list_filter(name);
}

}  // namespace lorikeet::jinja
