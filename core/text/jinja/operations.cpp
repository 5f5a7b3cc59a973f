// SPDX-License-Identifier: Apache-2.0
// What values can do: the services of Interpreter that expressions, filters and methods share.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "core/text/jinja/characters.h"
#include "core/text/jinja/interpreter.h"
#include "core/text/jinja/methods.h"
#include "core/text/jinja/percent_format.h"

namespace lorikeet::jinja {
namespace {

const char* symbol_of(Operator op) {
  switch (op) {
    case Operator::add:
      return "+";
    case Operator::subtract:
      return "-";
    case Operator::multiply:
      return "*";
    case Operator::divide:
      return "/";
    case Operator::floor_divide:
      return "//";
    case Operator::modulo:
      return "%";
    default:
      return "**";
  }
}

/// False when the result does not fit.
bool whole_arithmetic(Operator op, std::int64_t a, std::int64_t b, std::int64_t& result) {
  switch (op) {
    case Operator::add:
      return !__builtin_add_overflow(a, b, &result);
    case Operator::subtract:
      return !__builtin_sub_overflow(a, b, &result);
    case Operator::multiply:
      return !__builtin_mul_overflow(a, b, &result);
    case Operator::floor_divide:
      if (b == -1) return !__builtin_sub_overflow(std::int64_t{0}, a, &result);
      result = a / b - ((a % b != 0 && (a < 0) != (b < 0)) ? 1 : 0);
      return true;
    case Operator::modulo:
      result = b == -1 ? 0 : a % b;
      if (result != 0 && (result < 0) != (b < 0)) result += b;
      return true;
    default:
      break;
  }
  result = 1;  // power, b >= 0
  for (std::int64_t base = a; b > 0; b >>= 1) {
    if ((b & 1) != 0 && __builtin_mul_overflow(result, base, &result)) return false;
    if (b > 1 && __builtin_mul_overflow(base, base, &base)) return false;
  }
  return true;
}

double real_arithmetic(Operator op, double a, double b) {
  switch (op) {
    case Operator::add:
      return a + b;
    case Operator::subtract:
      return a - b;
    case Operator::multiply:
      return a * b;
    case Operator::divide:
      return a / b;
    case Operator::floor_divide:
      return std::floor(a / b);
    case Operator::modulo: {
      const double rest = std::fmod(a, b);
      return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
    }
    default:
      return std::pow(a, b);
  }
}

}  // namespace

void Interpreter::charge_search(std::size_t text_bytes, std::size_t pattern_bytes) {
  charge(1 + static_cast<std::int64_t>(text_bytes / 64 + text_bytes * pattern_bytes / 4096));
}

Value Interpreter::make_text(TaggedText text) {
  if (text.size() > max_text_bytes) fail("a text larger than 4 MiB");
  charge(static_cast<std::int64_t>(text.size() / 64 + text.tags().size() / 8));
  return Value(std::move(text));
}

Value Interpreter::make_list(std::vector<Value> items, bool is_tuple) {
  charge(std::ssize(items) / 4);
  List list{.items = std::move(items), .is_tuple = is_tuple};
  for (const Value& item : list.items) {
    list.depth = std::max(list.depth, item.depth() + 1);
    list.weight += item.weight();
  }
  if (list.depth > max_value_depth) fail("values are nested too deep");
  if (list.weight > max_value_weight) fail("a list is too large");
  return Value(std::make_shared<const List>(std::move(list)));
}

Value Interpreter::make_dict(std::vector<std::pair<Value, Value>> items) {
  charge(std::ssize(items));
  Dict dict;
  for (auto& [key, value] : items) {
    if (key.list() || key.dict() || key.space())
      fail(std::string("a ") + key.type_name() + " cannot be a key");
    dict.depth = std::max({dict.depth, key.depth() + 1, value.depth() + 1});
    dict.weight += key.weight() + value.weight();
    const auto known = std::find_if(dict.items.begin(), dict.items.end(),
                                    [&k = key](const auto& item) { return equal(item.first, k); });
    if (known != dict.items.end())
      known->second = std::move(value);
    else
      dict.items.emplace_back(std::move(key), std::move(value));
    if (dict.items.size() > max_dict_members) fail("a dict with more than 256 members");
  }
  if (dict.depth > max_value_depth) fail("values are nested too deep");
  if (dict.weight > max_value_weight) fail("a dict is too large");
  return Value(std::make_shared<const Dict>(std::move(dict)));
}

Value Interpreter::make_space(std::vector<std::pair<std::string, Value>> members) {
  charge(10);
  spaces_.push_back(std::make_shared<Space>(Space{std::move(members)}));
  return Value(spaces_.back());
}

TaggedText Interpreter::text_of(const Value& value) {
  return value.text() ? *value.text() : written(value, to_text);
}

TaggedText Interpreter::repr_of(const Value& value) {
  return written(value, to_repr);
}

TaggedText Interpreter::written(const Value& value, TaggedText (*form)(const Value&)) {
  charge(value.weight());
  try {
    return form(value);
  } catch (const std::length_error& error) {
    fail(error.what());
  }
}

std::shared_ptr<const List> Interpreter::iterate(const Value& value) {
  if (value.list()) return value.shared_list();
  std::vector<Value> items;
  if (const TaggedText* text = value.text()) {
    charge(std::ssize(text->view()));
    const std::vector<std::size_t> offsets = character_offsets(text->view());
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i)
      items.emplace_back(text->slice(offsets[i], offsets[i + 1]));
  } else if (const Dict* dict = value.dict()) {
    for (const auto& [key, member] : dict->items) items.push_back(key);
  } else if (!value.is_undefined()) {
    fail(std::string("a ") + value.type_name() + " has no members to go through");
  }
  return make_list(std::move(items)).shared_list();
}

std::int64_t Interpreter::length(const Value& value) {
  if (value.list()) return std::ssize(value.list()->items);
  if (value.dict()) return std::ssize(value.dict()->items);
  if (value.is_undefined()) return 0;
  if (!value.text()) fail(std::string("a ") + value.type_name() + " has no length");
  charge(value.weight());
  return count_characters(value.text()->view());
}

bool Interpreter::is_equal(const Value& a, const Value& b) {
  charge(std::min(a.weight(), b.weight()));
  return equal(a, b);
}

int Interpreter::order(const Value& a, const Value& b) {
  charge(std::min(a.weight(), b.weight()));
  bool comparable = false;
  const int result = compare(a, b, comparable);
  if (comparable) return result;
  if (a.is_undefined() || b.is_undefined()) fail((a.is_undefined() ? a : b).undefined_text());
  fail(std::string("a ") + a.type_name() + " and a " + b.type_name() + " have no order");
}

bool Interpreter::contains(const Value& container, const Value& item) {
  charge(container.weight());
  if (container.text()) {
    if (!item.text()) fail(std::string("\"in\" a text needs a text, not a ") + item.type_name());
    charge_search(container.text()->size(), item.text()->size());
    return container.text()->view().find(item.text()->view()) != std::string_view::npos;
  }
  if (container.dict()) return container.dict()->find(item) != nullptr;
  if (container.is_undefined()) return false;
  if (!container.list()) fail(std::string("a ") + container.type_name() + " has no members");
  const std::vector<Value>& items = container.list()->items;
  return std::any_of(items.begin(), items.end(), [&](const Value& member) { return equal(member, item); });
}

Value Interpreter::attribute(const Value& value, const std::string& name) {
  if (value.is_undefined()) fail(value.undefined_text());
  const auto missing = [&] {
    return Value::undefined(std::string("a ") + value.type_name() + " has no member \"" + name + "\"");
  };
  if (name.starts_with("_")) return missing();
  if (value.loop()) return loop_member(value, name);
  if (value.space()) {
    for (const auto& [known, member] : value.space()->members) {
      if (known == name) return member;
    }
    return missing();
  }
  if (const auto method = bind_method(value, name)) return method;
  if (value.dict()) {
    charge(std::ssize(value.dict()->items) / 16);
    if (const Value* member = value.dict()->find_name(name)) return *member;
  }
  return missing();
}

Value Interpreter::item(const Value& value, const Value& key) {
  if (value.is_undefined()) fail(value.undefined_text());
  if (value.dict()) {
    charge(std::ssize(value.dict()->items) / 16);
    if (const Value* member = value.dict()->find(key)) return *member;
  }
  std::int64_t index = 0;
  if ((value.list() || value.text()) && key.as_integer(index)) {
    const std::int64_t count = length(value);
    if (index < 0) index += count;
    if (index < 0 || index >= count) return Value::undefined("there is no member " + std::to_string(index));
    if (value.list()) return value.list()->items[static_cast<std::size_t>(index)];
    const std::vector<std::size_t> offsets = character_offsets(value.text()->view());
    return make_text(value.text()->slice(offsets[static_cast<std::size_t>(index)],
                                         offsets[static_cast<std::size_t>(index) + 1]));
  }
  if (key.text()) {
    if (!value.dict()) return attribute(value, key.text()->text());
    if (const auto method = bind_method(value, key.text()->text())) return method;
  }
  return Value::undefined(std::string("a ") + value.type_name() + " has no such member");
}

Value Interpreter::call(const Value& callee, const Arguments& arguments) {
  if (callee.callable()) return callee.callable()->call(*this, arguments);
  if (callee.is_undefined()) fail(callee.undefined_text());
  fail(std::string("a ") + callee.type_name() + " cannot be called");
}

Value Interpreter::arithmetic(Operator op, const Value& a, const Value& b) {
  if (op == Operator::add && a.text() && b.text()) {
    TaggedText text = *a.text();
    text.append(*b.text());
    return make_text(std::move(text));
  }
  if (op == Operator::add && a.list() && b.list() && a.list()->is_tuple == b.list()->is_tuple) {
    std::vector<Value> items = a.list()->items;
    items.insert(items.end(), b.list()->items.begin(), b.list()->items.end());
    return make_list(std::move(items), a.list()->is_tuple);
  }
  if (op == Operator::modulo && a.text()) return make_text(percent_format(*this, *a.text(), b));
  std::int64_t x = 0, y = 0;
  const bool whole = a.as_integer(x) && b.as_integer(y);
  if (op == Operator::multiply && !whole && (a.as_integer(y) || b.as_integer(y))) {
    const Value& repeated = a.is_number() ? b : a;
    y = std::max<std::int64_t>(y, 0);
    if (repeated.text()) return make_text(repeat(*this, *repeated.text(), y));
    if (repeated.list()) return repeat(*this, *repeated.list(), y);
  }
  if (!a.is_number() || !b.is_number()) {
    if (a.is_undefined() || b.is_undefined()) fail((a.is_undefined() ? a : b).undefined_text());
    fail(std::string("a ") + a.type_name() + " " + symbol_of(op) + " a " + b.type_name() + " means nothing");
  }
  const bool divides = op == Operator::divide || op == Operator::floor_divide || op == Operator::modulo;
  if (divides && b.as_real() == 0) fail("a division by zero");
  if (!whole || op == Operator::divide || (op == Operator::power && y < 0)) {
    return real_arithmetic(op, a.as_real(), b.as_real());
  }
  std::int64_t result = 0;
  if (!whole_arithmetic(op, x, y, result)) fail("a number is too large");
  return result;
}

}  // namespace lorikeet::jinja
