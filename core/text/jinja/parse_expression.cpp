// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "core/text/jinja/filters.h"
#include "core/text/jinja/parser.h"

namespace lorikeet::jinja {

ExpressionPtr Parser::node(Expression::Kind kind) const {
  auto made = std::make_unique<Expression>();
  made->kind = kind;
  made->line = current().line;
  return made;
}

void Parser::check_depth(const Expression& parent, const Expression& child) const {
  if (std::max(parent.depth, child.depth + 1) > max_syntax_depth) fail("an expression is nested too deep");
}

void Parser::adopt(Expression& parent, ExpressionPtr child) const {
  if (child) {
    check_depth(parent, *child);
    parent.depth = std::max(parent.depth, child->depth + 1);
  }
  parent.children.push_back(std::move(child));
}

ExpressionPtr Parser::expression() {
  const Level level(*this);
  return conditional();
}

ExpressionPtr Parser::conditional() {
  ExpressionPtr value = disjunction();
  while (skip_name("if")) {
    ExpressionPtr made = node(Expression::Kind::conditional);
    adopt(*made, std::move(value));
    adopt(*made, disjunction());
    if (skip_name("else")) adopt(*made, expression());
    value = std::move(made);
  }
  return value;
}

ExpressionPtr Parser::disjunction() {
  ExpressionPtr left = conjunction();
  while (skip_name("or")) {
    ExpressionPtr made = node(Expression::Kind::logical_or);
    adopt(*made, std::move(left));
    adopt(*made, conjunction());
    left = std::move(made);
  }
  return left;
}

ExpressionPtr Parser::conjunction() {
  ExpressionPtr left = negation();
  while (skip_name("and")) {
    ExpressionPtr made = node(Expression::Kind::logical_and);
    adopt(*made, std::move(left));
    adopt(*made, negation());
    left = std::move(made);
  }
  return left;
}

ExpressionPtr Parser::negation() {
  if (!at_name("not")) return comparison();
  const Level level(*this);
  ExpressionPtr made = node(Expression::Kind::logical_not);
  ++at_;
  adopt(*made, negation());
  return made;
}

ExpressionPtr Parser::comparison() {
  ExpressionPtr left = sum();
  ExpressionPtr made;
  for (;;) {
    Operator op = Operator::none;
    if (current().kind == TokenKind::symbol) {
      constexpr std::pair<std::string_view, Operator> symbols[] = {
          {"==", Operator::equal},  {"!=", Operator::not_equal},  {"<", Operator::less},
          {">", Operator::greater}, {"<=", Operator::less_equal}, {">=", Operator::greater_equal}};
      for (const auto& [symbol, meaning] : symbols) {
        if (current().text == symbol) op = meaning;
      }
      if (op != Operator::none) ++at_;
    } else if (skip_name("in")) {
      op = Operator::in;
    } else if (at_name("not") && tokens_[at_ + 1].kind == TokenKind::name && tokens_[at_ + 1].text == "in") {
      at_ += 2;
      op = Operator::not_in;
    }
    if (op == Operator::none) return made ? std::move(made) : std::move(left);
    if (!made) {
      made = node(Expression::Kind::compare);
      adopt(*made, std::move(left));
    }
    made->operators.push_back(op);
    adopt(*made, sum());
  }
}

ExpressionPtr Parser::sum() {
  ExpressionPtr left = joined();
  while (at_symbol("+") || at_symbol("-")) {
    ExpressionPtr made = node(Expression::Kind::binary);
    made->op = current().text == "+" ? Operator::add : Operator::subtract;
    ++at_;
    adopt(*made, std::move(left));
    adopt(*made, joined());
    left = std::move(made);
  }
  return left;
}

ExpressionPtr Parser::joined() {
  ExpressionPtr first = product();
  if (!at_symbol("~")) return first;
  ExpressionPtr made = node(Expression::Kind::concat);
  adopt(*made, std::move(first));
  while (skip_symbol("~")) adopt(*made, product());
  return made;
}

ExpressionPtr Parser::product() {
  ExpressionPtr left = power();
  for (;;) {
    Operator op = Operator::none;
    if (at_symbol("*")) op = Operator::multiply;
    if (at_symbol("/")) op = Operator::divide;
    if (at_symbol("//")) op = Operator::floor_divide;
    if (at_symbol("%")) op = Operator::modulo;
    if (op == Operator::none) return left;
    ExpressionPtr made = node(Expression::Kind::binary);
    made->op = op;
    ++at_;
    adopt(*made, std::move(left));
    adopt(*made, power());
    left = std::move(made);
  }
}

ExpressionPtr Parser::power() {
  ExpressionPtr left = unary(true);
  while (at_symbol("**")) {
    ExpressionPtr made = node(Expression::Kind::binary);
    made->op = Operator::power;
    ++at_;
    adopt(*made, std::move(left));
    adopt(*made, unary(true));
    left = std::move(made);
  }
  return left;
}

ExpressionPtr Parser::unary(bool with_filter) {
  ExpressionPtr value;
  if (at_symbol("-") || at_symbol("+")) {
    const Level level(*this);
    value = node(Expression::Kind::unary);
    value->op = current().text == "-" ? Operator::negate : Operator::plus;
    ++at_;
    adopt(*value, unary(false));
  } else {
    value = primary();
  }
  value = postfix(std::move(value));
  return with_filter ? filters(std::move(value)) : std::move(value);
}

ExpressionPtr Parser::number_literal() {
  ExpressionPtr made = node(Expression::Kind::constant);
  const std::string& text = current().text;
  const char* end = text.data() + text.size();
  std::int64_t whole = 0;
  double real = 0;
  if (current().kind == TokenKind::integer) {
    if (text.size() > 1 && text[0] == '0' && text.find_first_not_of('0') != std::string::npos)
      fail("a number begins with 0");
    if (std::from_chars(text.data(), end, whole).ec != std::errc{}) fail("a number is too large");
    made->constant = whole;
  } else {
    if (std::from_chars(text.data(), end, real).ec != std::errc{}) fail("a number is too large");
    made->constant = real;
  }
  ++at_;
  return made;
}

ExpressionPtr Parser::primary() {
  const Token& token = current();
  if (token.kind == TokenKind::integer || token.kind == TokenKind::real) return number_literal();
  if (token.kind == TokenKind::string) {
    ExpressionPtr made = node(Expression::Kind::constant);
    std::string text;
    while (current().kind == TokenKind::string) text += tokens_[at_++].text;
    made->constant = Value(std::move(text));
    return made;
  }
  if (token.kind == TokenKind::name) {
    ExpressionPtr made = node(Expression::Kind::constant);
    if (token.text == "true" || token.text == "True")
      made->constant = true;
    else if (token.text == "false" || token.text == "False")
      made->constant = false;
    else if (token.text == "none" || token.text == "None")
      made->constant = None{};
    else
      made->kind = Expression::Kind::name;
    made->name = token.text;
    ++at_;
    return made;
  }
  if (at_symbol("(")) return bracketed();
  if (at_symbol("[")) return list_literal();
  if (at_symbol("{")) return dict_literal();
  fail("a value was expected, found " + found());
}

ExpressionPtr Parser::bracketed() {
  const Level level(*this);
  expect_symbol("(");
  ExpressionPtr made;
  if (at_symbol(")")) {
    made = node(Expression::Kind::tuple);
  } else {
    made = tuple(true);
  }
  expect_symbol(")");
  return made;
}

/// One expression, or several with commas, which make a tuple.
ExpressionPtr Parser::tuple(bool with_conditional) {
  const Level level(*this);
  ExpressionPtr first = with_conditional ? conditional() : disjunction();
  if (!at_symbol(",")) return first;
  ExpressionPtr made = node(Expression::Kind::tuple);
  adopt(*made, std::move(first));
  while (skip_symbol(",")) {
    if (at_symbol(")") || current().kind == TokenKind::block_end || current().kind == TokenKind::output_end)
      break;
    adopt(*made, with_conditional ? conditional() : disjunction());
  }
  return made;
}

ExpressionPtr Parser::list_literal() {
  const Level level(*this);
  ExpressionPtr made = node(Expression::Kind::list);
  expect_symbol("[");
  while (!at_symbol("]")) {
    adopt(*made, expression());
    if (!skip_symbol(",")) break;
  }
  expect_symbol("]");
  return made;
}

ExpressionPtr Parser::dict_literal() {
  const Level level(*this);
  ExpressionPtr made = node(Expression::Kind::dict);
  expect_symbol("{");
  while (!at_symbol("}")) {
    adopt(*made, expression());
    expect_symbol(":");
    adopt(*made, expression());
    if (!skip_symbol(",")) break;
  }
  expect_symbol("}");
  return made;
}

ExpressionPtr Parser::postfix(ExpressionPtr subject) {
  for (;;) {
    if (at_symbol(".") || at_symbol("[")) {
      subject = subscript(std::move(subject));
    } else if (at_symbol("(")) {
      ExpressionPtr made = node(Expression::Kind::call);
      adopt(*made, std::move(subject));
      call_arguments(*made);
      subject = std::move(made);
    } else {
      return subject;
    }
  }
}

ExpressionPtr Parser::filters(ExpressionPtr subject) {
  for (;;) {
    if (at_symbol("|")) {
      subject = filter(std::move(subject));
    } else if (at_name("is")) {
      subject = test(std::move(subject));
    } else if (at_symbol("(")) {
      subject = postfix(std::move(subject));
    } else {
      return subject;
    }
  }
}

ExpressionPtr Parser::subscript(ExpressionPtr subject) {
  const Level level(*this);
  ExpressionPtr made = node(Expression::Kind::attribute);
  adopt(*made, std::move(subject));
  if (skip_symbol(".")) {
    if (current().kind == TokenKind::integer) {
      made->kind = Expression::Kind::item;
      adopt(*made, number_literal());
    } else {
      made->name = expect_name();
    }
    return made;
  }
  expect_symbol("[");
  made->kind = Expression::Kind::item;
  ExpressionPtr first = at_symbol(":") ? nullptr : expression();
  if (first && at_symbol(",")) {  // several indexes make one tuple
    ExpressionPtr several = node(Expression::Kind::tuple);
    adopt(*several, std::move(first));
    while (skip_symbol(",")) adopt(*several, expression());
    first = std::move(several);
  }
  adopt(*made, std::move(first));
  if (at_symbol(":")) {
    made->kind = Expression::Kind::slice;
    for (int part = 0; part < 2; ++part) {
      const bool given = skip_symbol(":") && !at_symbol(":") && !at_symbol("]");
      adopt(*made, given ? expression() : nullptr);
    }
  }
  expect_symbol("]");
  return made;
}

void Parser::call_arguments(Expression& call) {
  const Level level(*this);
  expect_symbol("(");
  while (!at_symbol(")")) {
    const bool keyword = current().kind == TokenKind::name && tokens_[at_ + 1].kind == TokenKind::symbol &&
                         tokens_[at_ + 1].text == "=";
    std::string name;
    if (keyword) {
      name = expect_name();
      ++at_;
    } else if (!call.keywords.empty()) {
      fail("an argument without a name stands after one with a name");
    }
    ExpressionPtr value = expression();
    check_depth(call, *value);
    call.depth = std::max(call.depth, value->depth + 1);
    if (keyword)
      call.keywords.emplace_back(std::move(name), std::move(value));
    else
      call.arguments.push_back(std::move(value));
    if (!skip_symbol(",")) break;
  }
  expect_symbol(")");
}

ExpressionPtr Parser::filter(ExpressionPtr subject) {
  expect_symbol("|");
  ExpressionPtr made = node(Expression::Kind::filter);
  adopt(*made, std::move(subject));
  made->name = expect_name();
  if (!find_filter(made->name)) fail("there is no filter \"" + made->name + "\"");
  if (at_symbol("(")) call_arguments(*made);
  return made;
}

ExpressionPtr Parser::test(ExpressionPtr subject) {
  ExpressionPtr made = node(Expression::Kind::test);
  ++at_;
  const bool negated = skip_name("not");
  adopt(*made, std::move(subject));
  made->name = expect_name();
  if (!find_test(made->name)) fail("there is no test \"" + made->name + "\"");
  const TokenKind kind = current().kind;
  const bool literal = kind == TokenKind::string || kind == TokenKind::integer || kind == TokenKind::real;
  const bool name = kind == TokenKind::name && !at_name("else") && !at_name("or") && !at_name("and") &&
                    !at_name("is") && !at_name("if") && !at_name("not") && !at_name("in");
  if (at_symbol("(")) {
    call_arguments(*made);
  } else if (literal || name || at_symbol("[") || at_symbol("{")) {
    ExpressionPtr argument = postfix(primary());
    check_depth(*made, *argument);
    made->depth = std::max(made->depth, argument->depth + 1);
    made->arguments.push_back(std::move(argument));
  }
  if (!negated) return made;
  ExpressionPtr inverse = node(Expression::Kind::logical_not);
  adopt(*inverse, std::move(made));
  return inverse;
}

}  // namespace lorikeet::jinja
