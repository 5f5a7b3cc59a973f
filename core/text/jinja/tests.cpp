// SPDX-License-Identifier: Apache-2.0
// What stands after `is`.
#include <unordered_map>

#include "core/base/utf8.h"
#include "core/text/jinja/characters.h"
#include "core/text/jinja/filters.h"
#include "core/text/jinja/methods.h"

namespace lorikeet::jinja {
namespace {

const Value& argument(Interpreter& interpreter, const Arguments& arguments) {
  return ArgumentReader(interpreter, "this test", arguments, {"other"}).get(0);
}

std::int64_t whole(Interpreter& interpreter, const Value& value) {
  std::int64_t number = 0;
  if (!value.as_integer(number))
    interpreter.fail(std::string("this test needs a whole number, not a ") + value.type_name());
  return number;
}

bool divides(Interpreter& interpreter, const Value& value, const Value& divisor) {
  return whole(interpreter, interpreter.arithmetic(Operator::modulo, value, divisor)) == 0;
}

bool is_callable(const Value& value) {
  return value.callable() != nullptr;
}
bool is_sequence(const Value& value) {
  return value.list() || value.text() || value.dict() || value.is_undefined();
}

/// Same object in Python; here equal values of the same kind.
bool is_same(Interpreter& interpreter, const Value& a, const Value& b) {
  return std::string_view(a.type_name()) == b.type_name() && interpreter.is_equal(a, b);
}

bool has_case(Interpreter& interpreter, const Value& value, LetterCase letter_case) {
  const TaggedText text = interpreter.text_of(value);
  interpreter.charge(static_cast<std::int64_t>(text.size() / 8));
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::uint32_t code_point = next_code_point(text.view(), at);
    any |= is_upper(code_point) || is_lower(code_point);
  }
  return any && change_case(text, letter_case).view() == text.view();
}

using I = Interpreter;
using V = const Value;
using A = const Arguments;

}  // namespace

Test find_test(std::string_view name) {
  static const std::unordered_map<std::string_view, Test> tests = {
      {"defined", [](I&, V& v, A&) { return !v.is_undefined(); }},
      {"undefined", [](I&, V& v, A&) { return v.is_undefined(); }},
      {"none", [](I&, V& v, A&) { return v.is_none(); }},
      {"boolean", [](I&, V& v, A&) { return v.boolean() != nullptr; }},
      {"true", [](I&, V& v, A&) { return v.boolean() && *v.boolean(); }},
      {"false", [](I&, V& v, A&) { return v.boolean() && !*v.boolean(); }},
      {"integer", [](I&, V& v, A&) { return v.integer() != nullptr; }},
      {"float", [](I&, V& v, A&) { return v.real() != nullptr; }},
      {"number", [](I&, V& v, A&) { return v.is_number(); }},
      {"string", [](I&, V& v, A&) { return v.text() != nullptr; }},
      {"mapping", [](I&, V& v, A&) { return v.dict() != nullptr; }},
      {"sequence", [](I&, V& v, A&) { return is_sequence(v); }},
      {"iterable", [](I&, V& v, A&) { return is_sequence(v) || v.loop(); }},
      {"callable", [](I&, V& v, A&) { return is_callable(v); }},
      {"odd", [](I& i, V& v, A&) { return !divides(i, v, std::int64_t{2}); }},
      {"even", [](I& i, V& v, A&) { return divides(i, v, std::int64_t{2}); }},
      {"divisibleby", [](I& i, V& v, A& a) { return divides(i, v, argument(i, a)); }},
      {"in", [](I& i, V& v, A& a) { return i.contains(argument(i, a), v); }},
      {"sameas", [](I& i, V& v, A& a) { return is_same(i, v, argument(i, a)); }},
      {"upper", [](I& i, V& v, A&) { return has_case(i, v, LetterCase::upper); }},
      {"lower", [](I& i, V& v, A&) { return has_case(i, v, LetterCase::lower); }},
      {"filter", [](I&, V& v, A&) { return v.text() && find_filter(v.text()->view()); }},
      {"test", [](I&, V& v, A&) { return v.text() && find_test(v.text()->view()); }},
      {"eq", [](I& i, V& v, A& a) { return i.is_equal(v, argument(i, a)); }},
      {"ne", [](I& i, V& v, A& a) { return !i.is_equal(v, argument(i, a)); }},
      {"lt", [](I& i, V& v, A& a) { return i.order(v, argument(i, a)) < 0; }},
      {"le", [](I& i, V& v, A& a) { return i.order(v, argument(i, a)) <= 0; }},
      {"gt", [](I& i, V& v, A& a) { return i.order(v, argument(i, a)) > 0; }},
      {"ge", [](I& i, V& v, A& a) { return i.order(v, argument(i, a)) >= 0; }},
  };
  static const std::unordered_map<std::string_view, std::string_view> other_names = {
      {"==", "eq"}, {"equalto", "eq"}, {"!=", "ne"},          {"<", "lt"},  {"lessthan", "lt"},
      {"<=", "le"}, {">", "gt"},       {"greaterthan", "gt"}, {">=", "ge"},
  };
  const auto other = other_names.find(name);
  const auto found = tests.find(other == other_names.end() ? name : other->second);
  return found == tests.end() ? nullptr : found->second;
}

}  // namespace lorikeet::jinja
