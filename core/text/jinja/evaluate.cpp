// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/text/jinja/characters.h"
#include "core/text/jinja/filters.h"
#include "core/text/jinja/guards.h"
#include "core/text/jinja/interpreter.h"
#include "core/text/jinja/methods.h"

namespace lorikeet::jinja {

Value Interpreter::evaluate(const Expression& expression) {
  const DepthGuard guard(*this, depth_);
  charge(1);
  line_ = expression.line;
  return evaluate_node(expression);
}

Value Interpreter::evaluate_node(const Expression& e) {
  using Kind = Expression::Kind;
  const auto child = [&](std::size_t index) { return evaluate(*e.children[index]); };
  switch (e.kind) {
    case Kind::constant:
      return e.constant;
    case Kind::name:
      return name(e);
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
      return literal(e);
    case Kind::unary:
      return unary(e);
    case Kind::binary: {
      const Value left = child(0), right = child(1);
      line_ = e.line;
      return arithmetic(e.op, left, right);
    }
    case Kind::compare:
      return comparison(e);
    case Kind::concat:
      return concat(e);
    case Kind::logical_and: {
      Value left = child(0);
      return left.is_true() ? child(1) : left;
    }
    case Kind::logical_or: {
      Value left = child(0);
      return left.is_true() ? left : child(1);
    }
    case Kind::logical_not:
      return !child(0).is_true();
    case Kind::conditional:
      if (child(1).is_true()) return child(0);
      return e.children.size() > 2 ? child(2) : Value::undefined("an inline if without else was false");
    case Kind::attribute:
      return attribute(child(0), e.name);
    case Kind::item: {
      const Value subject = child(0);
      return item(subject, child(1));
    }
    case Kind::slice:
      return slice(e);
    case Kind::call:
      return call_expression(e);
    case Kind::filter:
      return filter(e, nullptr);
    case Kind::test: {
      const Value subject = child(0);
      const Arguments given = arguments(e);
      line_ = e.line;
      return find_test(e.name)(*this, subject, given);
    }
  }
  return {};
}

Value Interpreter::name(const Expression& expression) {
  for (const Scope* scope = scope_.get(); scope; scope = scope->parent.get()) {
    charge(std::ssize(scope->variables) / 16);
    for (const auto& [known, value] : scope->variables) {
      if (known == expression.name) return value;
    }
  }
  if (const auto function = find_function(expression.name)) return function;
  return Value::undefined("\"" + expression.name + "\" is undefined");
}

Value Interpreter::literal(const Expression& expression) {
  std::vector<Value> values;
  for (const ExpressionPtr& child : expression.children) values.push_back(evaluate(*child));
  if (expression.kind != Expression::Kind::dict)
    return make_list(std::move(values), expression.kind == Expression::Kind::tuple);
  std::vector<std::pair<Value, Value>> items;
  for (std::size_t i = 0; i + 1 < values.size(); i += 2) items.emplace_back(values[i], values[i + 1]);
  return make_dict(std::move(items));
}

Value Interpreter::unary(const Expression& expression) {
  const Value value = evaluate(*expression.children[0]);
  std::int64_t whole = 0;
  if (value.as_integer(whole)) {
    return expression.op == Operator::negate ? arithmetic(Operator::subtract, std::int64_t{0}, whole)
                                             : Value(whole);
  }
  if (value.real()) return expression.op == Operator::negate ? -*value.real() : *value.real();
  fail(value.is_undefined() ? value.undefined_text() : std::string("a sign before a ") + value.type_name());
}

Value Interpreter::comparison(const Expression& expression) {
  Value left = evaluate(*expression.children[0]);
  for (std::size_t i = 0; i < expression.operators.size(); ++i) {
    Value right = evaluate(*expression.children[i + 1]);
    line_ = expression.line;
    if (!compare_one(expression.operators[i], left, right)) return false;
    left = std::move(right);
  }
  return true;
}

bool Interpreter::compare_one(Operator op, const Value& a, const Value& b) {
  switch (op) {
    case Operator::equal:
      return is_equal(a, b);
    case Operator::not_equal:
      return !is_equal(a, b);
    case Operator::in:
      return contains(b, a);
    case Operator::not_in:
      return !contains(b, a);
    case Operator::less:
      return order(a, b) < 0;
    case Operator::less_equal:
      return order(a, b) <= 0;
    case Operator::greater:
      return order(a, b) > 0;
    default:
      return order(a, b) >= 0;
  }
}

Value Interpreter::concat(const Expression& expression) {
  TaggedText text;
  for (const ExpressionPtr& child : expression.children) {
    text.append(text_of(evaluate(*child)));
    if (text.size() > max_text_bytes) fail("a text larger than 4 MiB");
  }
  return make_text(std::move(text));
}

Value Interpreter::slice(const Expression& expression) {
  const Value subject = evaluate(*expression.children[0]);
  std::int64_t parts[3] = {};
  bool given[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    if (!expression.children[i + 1]) continue;
    const Value value = evaluate(*expression.children[i + 1]);
    if (value.is_none()) continue;
    given[i] = true;
    if (!value.as_integer(parts[i]))
      fail(std::string("a slice needs whole numbers, not a ") + value.type_name());
  }
  if (!subject.text() && !subject.list()) {
    fail(subject.is_undefined() ? subject.undefined_text()
                                : std::string("a slice of a ") + subject.type_name());
  }
  const std::int64_t step = given[2] ? parts[2] : 1;
  if (step == 0) fail("a slice with step 0");
  std::vector<std::size_t> offsets;
  if (subject.text()) {
    charge(subject.weight());
    offsets = character_offsets(subject.text()->view());
  }
  const std::int64_t length = subject.text() ? std::ssize(offsets) - 1 : std::ssize(subject.list()->items);
  const std::int64_t low = step > 0 ? 0 : -1, high = step > 0 ? length : length - 1;
  const auto bound = [&](std::size_t i, std::int64_t otherwise) {
    if (!given[i]) return otherwise;
    const std::int64_t value = parts[i] < 0 ? parts[i] + length : parts[i];
    return std::clamp(value, low, high);
  };
  const std::int64_t first = bound(0, step > 0 ? 0 : length - 1), end = bound(1, step > 0 ? length : -1);
  TaggedText text;
  std::vector<Value> items;
  if (subject.text() && step == 1) {
    if (first < end)
      text = subject.text()->slice(offsets[static_cast<std::size_t>(first)],
                                   offsets[static_cast<std::size_t>(end)]);
    return make_text(std::move(text));
  }
  // Beyond the length every step is the same; this one cannot overflow.
  const std::int64_t stride = std::clamp(step, -length - 1, length + 1);
  for (std::int64_t i = first; stride > 0 ? i < end : i > end; i += stride) {
    const auto at = static_cast<std::size_t>(i);
    if (subject.text())
      text.append(*subject.text(), offsets[at], offsets[at + 1]);
    else
      items.push_back(subject.list()->items[at]);
  }
  return subject.text() ? make_text(std::move(text)) : make_list(std::move(items), subject.list()->is_tuple);
}

Arguments Interpreter::arguments(const Expression& expression) {
  Arguments given;
  for (const ExpressionPtr& argument : expression.arguments) given.positional.push_back(evaluate(*argument));
  for (const auto& [keyword, argument] : expression.keywords)
    given.keyword.emplace_back(keyword, evaluate(*argument));
  return given;
}

Value Interpreter::call_expression(const Expression& expression) {
  const Value callee = evaluate(*expression.children[0]);
  const Arguments given = arguments(expression);
  line_ = expression.line;
  return call(callee, given);
}

/// Applies a filter; inside {% filter %} and {% set %} the innermost filter takes `subject`.
Value Interpreter::filter(const Expression& expression, const Value* subject) {
  Value value;
  if (!expression.children[0]) {
    value = *subject;
  } else if (subject && expression.children[0]->kind == Expression::Kind::filter) {
    value = filter(*expression.children[0], subject);
  } else {
    value = evaluate(*expression.children[0]);
  }
  const Arguments given = arguments(expression);
  line_ = expression.line;
  charge(1);
  return find_filter(expression.name)(*this, value, given);
}

}  // namespace lorikeet::jinja
