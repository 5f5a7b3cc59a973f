// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/value.h"

#include <algorithm>

namespace lorikeet::jinja {

const Value* Dict::find(const Value& key) const {
  for (const auto& [name, value] : items) {
    if (equal(name, key)) return &value;
  }
  return nullptr;
}

const Value* Dict::find_name(std::string_view key) const {
  for (const auto& [name, value] : items) {
    if (const TaggedText* text = name.text(); text && text->view() == key) return &value;
  }
  return nullptr;
}

Value Value::undefined(std::string what) {
  Value value;
  value.data_ = Undefined{std::make_shared<const std::string>(std::move(what))};
  return value;
}

double Value::as_real() const {
  if (const bool* value = boolean()) return *value ? 1 : 0;
  if (const std::int64_t* value = integer()) return static_cast<double>(*value);
  return real() ? *real() : 0;
}

bool Value::as_integer(std::int64_t& value) const {
  if (integer())
    value = *integer();
  else if (boolean())
    value = *boolean() ? 1 : 0;
  else
    return false;
  return true;
}

bool Value::is_true() const {
  if (is_undefined() || is_none()) return false;
  if (is_number()) return as_real() != 0;
  if (text()) return !text()->empty();
  if (list()) return !list()->items.empty();
  if (dict()) return !dict()->items.empty();
  return true;
}

std::string Value::undefined_text() const {
  const Undefined* value = std::get_if<Undefined>(&data_);
  return value && value->what ? *value->what : "the value is undefined";
}

const char* Value::type_name() const {
  constexpr const char* names[] = {"Undefined", "NoneType", "bool",      "int",         "float",   "str",
                                   "list",      "dict",     "Namespace", "LoopContext", "function"};
  return list() && list()->is_tuple ? "tuple" : names[data_.index()];
}

int Value::depth() const {
  if (list()) return list()->depth;
  if (dict()) return dict()->depth;
  if (loop()) return loop()->list->depth + 1;
  return callable() ? callable()->depth() : 0;
}

std::int64_t Value::weight() const {
  if (list()) return list()->weight;
  if (dict()) return dict()->weight;
  return text() ? 1 + static_cast<std::int64_t>(text()->size() / 64) : 1;
}

namespace {

bool equal_lists(const List& a, const List& b) {
  return a.is_tuple == b.is_tuple && a.items.size() == b.items.size() &&
         std::equal(a.items.begin(), a.items.end(), b.items.begin(), equal);
}

bool equal_dicts(const Dict& a, const Dict& b) {
  if (a.items.size() != b.items.size()) return false;
  return std::all_of(a.items.begin(), a.items.end(), [&](const auto& item) {
    const Value* other = b.find(item.first);
    return other && equal(item.second, *other);
  });
}

int sign(bool less, bool greater) {
  return less ? -1 : greater ? 1 : 0;
}

}  // namespace

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    std::int64_t x = 0, y = 0;
    return a.as_integer(x) && b.as_integer(y) ? x == y : a.as_real() == b.as_real();
  }
  if (a.text() && b.text()) return a.text()->view() == b.text()->view();
  if (a.list() && b.list()) return equal_lists(*a.list(), *b.list());
  if (a.dict() && b.dict()) return equal_dicts(*a.dict(), *b.dict());
  if (a.space() || b.space()) return a.space() == b.space();
  if (a.callable() || b.callable()) return a.callable() == b.callable();
  if (a.loop() || b.loop()) return a.loop() == b.loop();
  return (a.is_none() && b.is_none()) || (a.is_undefined() && b.is_undefined());
}

int compare(const Value& a, const Value& b, bool& comparable) {
  comparable = true;
  if (a.is_number() && b.is_number()) {
    std::int64_t x = 0, y = 0;
    if (a.as_integer(x) && b.as_integer(y)) return sign(x<y, x> y);
    return sign(a.as_real() < b.as_real(), a.as_real() > b.as_real());
  }
  if (a.text() && b.text()) {  // the order of UTF-8's bytes is that of its code points
    const int order = a.text()->view().compare(b.text()->view());
    return sign(order<0, order> 0);
  }
  if (a.list() && b.list() && a.list()->is_tuple == b.list()->is_tuple) {
    const std::vector<Value>&x = a.list()->items, &y = b.list()->items;
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      if (equal(x[i], y[i])) continue;
      return compare(x[i], y[i], comparable);
    }
    return sign(x.size() < y.size(), x.size() > y.size());
  }
  comparable = false;
  return 0;
}

}  // namespace lorikeet::jinja
