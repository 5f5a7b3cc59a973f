// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/parser.h"

#include <algorithm>

#include "core/text/jinja/filters.h"
#include "kernels/base/error.h"

namespace lorikeet::jinja {

Parser::Level::Level(Parser& parser) : parser_(parser) {
  if (++parser_.level_ <= max_syntax_depth) return;
  --parser_.level_;
  parser_.fail("it is nested too deep");
}

void Parser::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_format, "The chat template is broken, " + what,
              "line " + std::to_string(current().line));
}

std::string Parser::found() const {
  switch (current().kind) {
    case TokenKind::end:
      return "the end of the template";
    case TokenKind::block_end:
      return "%}";
    case TokenKind::output_end:
      return "}}";
    case TokenKind::string:
      return "a text";
    default:
      return "\"" + current().text + "\"";
  }
}

bool Parser::at_symbol(std::string_view symbol) const {
  return current().kind == TokenKind::symbol && current().text == symbol;
}
bool Parser::at_name(std::string_view name) const {
  return current().kind == TokenKind::name && current().text == name;
}
bool Parser::skip_symbol(std::string_view symbol) {
  if (!at_symbol(symbol)) return false;
  ++at_;
  return true;
}
bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  ++at_;
  return true;
}
void Parser::expect_symbol(std::string_view symbol) {
  if (!skip_symbol(symbol)) fail("\"" + std::string(symbol) + "\" was expected, found " + found());
}
void Parser::expect(TokenKind kind, std::string_view what) {
  if (current().kind != kind) fail(std::string(what) + " was expected, found " + found());
  ++at_;
}
std::string Parser::expect_name() {
  if (current().kind != TokenKind::name) fail("a name was expected, found " + found());
  return tokens_[at_++].text;
}

Block Parser::parse() {
  Block block = block_until({});
  if (current().kind != TokenKind::end) fail("{% " + tokens_[at_ + 1].text + " %} closes nothing");
  return block;
}

/// Statements up to a tag with one of these names, whose {% is not consumed; to the end when there are none.
Block Parser::block_until(std::initializer_list<std::string_view> ends) {
  const Level level(*this);
  Block block;
  for (;;) {
    const Token& token = current();
    if (token.kind == TokenKind::end) {
      if (ends.size() > 0) fail("{% " + std::string(*(ends.end() - 1)) + " %} is missing");
      return block;
    }
    if (token.kind == TokenKind::block_begin) {
      const Token& name = tokens_[at_ + 1];
      if (name.kind == TokenKind::name && std::find(ends.begin(), ends.end(), name.text) != ends.end())
        return block;
      if (ends.size() == 0 && name.text.starts_with("end")) return block;
      block.push_back(statement());
      continue;
    }
    Statement& made = block.emplace_back(Statement{.kind = Statement::Kind::data, .line = token.line});
    if (token.kind == TokenKind::data) {
      made.text = tokens_[at_++].text;
    } else {
      ++at_;
      made.kind = Statement::Kind::output;
      made.expression = tuple(true);
      expect(TokenKind::output_end, "}}");
    }
  }
}

void Parser::end_block(std::string_view name) {
  expect(TokenKind::block_begin, "{%");
  if (!skip_name(name)) fail("{% " + std::string(name) + " %} was expected, found " + found());
  expect(TokenKind::block_end, "%}");
}

Statement Parser::statement() {
  ++at_;
  if (current().kind != TokenKind::name) fail("the name of a tag was expected, found " + found());
  const int line = current().line;
  Statement made{.kind = Statement::Kind::generation, .line = line};
  if (skip_name("if")) {
    made = if_statement();
  } else if (skip_name("for")) {
    made = for_statement();
  } else if (skip_name("set")) {
    made = set_statement();
  } else if (skip_name("macro")) {
    made = macro_statement();
  } else if (skip_name("call")) {
    made = call_statement();
  } else if (skip_name("filter")) {
    made = filter_statement();
  } else if (skip_name("with")) {
    made = with_statement();
  } else if (skip_name("break")) {
    made = loop_control(Statement::Kind::break_loop);
  } else if (skip_name("continue")) {
    made = loop_control(Statement::Kind::continue_loop);
  } else if (skip_name("generation")) {
    expect(TokenKind::block_end, "%}");
    made.body = block_until({"endgeneration"});
    end_block("endgeneration");
  } else {
    fail("{% " + current().text + " %} is not known here");
  }
  made.line = line;
  return made;
}

Statement Parser::loop_control(Statement::Kind kind) {
  if (loops_ == 0) fail("break and continue belong inside a for block");
  expect(TokenKind::block_end, "%}");
  return Statement{.kind = kind};
}

Statement Parser::if_statement() {
  Statement made{.kind = Statement::Kind::if_block};
  ExpressionPtr condition = tuple(false);
  for (;;) {
    expect(TokenKind::block_end, "%}");
    Block body = block_until({"elif", "else", "endif"});
    made.branches.emplace_back(std::move(condition), std::move(body));
    ++at_;
    if (skip_name("elif")) {
      condition = tuple(false);
    } else if (skip_name("else")) {
      expect(TokenKind::block_end, "%}");
      made.branches.emplace_back(nullptr, block_until({"endif"}));
      end_block("endif");
      return made;
    } else {
      ++at_;
      expect(TokenKind::block_end, "%}");
      return made;
    }
  }
}

Statement Parser::for_statement() {
  Statement made{.kind = Statement::Kind::for_block};
  made.target = target(false);
  if (!skip_name("in")) fail("\"in\" was expected, found " + found());
  made.expression = tuple(false);
  if (skip_name("if")) made.condition = expression();
  if (at_name("recursive")) fail("recursive loops are not known here");
  expect(TokenKind::block_end, "%}");
  ++loops_;
  made.body = block_until({"else", "endfor"});
  --loops_;
  ++at_;
  if (skip_name("else")) {
    expect(TokenKind::block_end, "%}");
    made.otherwise = block_until({"endfor"});
    end_block("endfor");
  } else {
    ++at_;
    expect(TokenKind::block_end, "%}");
  }
  return made;
}

Target Parser::single_target(bool allow_member) {
  const Level level(*this);
  Target made;
  if (skip_symbol("(")) {
    made = target(allow_member);
    expect_symbol(")");
    return made;
  }
  made.name = expect_name();
  for (const std::string_view constant : {"true", "false", "none", "True", "False", "None"}) {
    if (made.name == constant) fail("\"" + made.name + "\" cannot be set");
  }
  if (allow_member && skip_symbol(".")) made.member = expect_name();
  return made;
}

Target Parser::target(bool allow_member) {
  Target first = single_target(allow_member);
  if (!at_symbol(",")) return first;
  Target made;
  made.parts.push_back(std::move(first));
  while (skip_symbol(",")) {
    if (current().kind != TokenKind::name && !at_symbol("(")) break;
    if (at_name("in")) break;
    made.parts.push_back(single_target(allow_member));
  }
  return made;
}

Statement Parser::set_statement() {
  Statement made{.kind = Statement::Kind::set};
  made.target = target(true);
  if (skip_symbol("=")) {
    made.expression = tuple(true);
    expect(TokenKind::block_end, "%}");
    return made;
  }
  made.kind = Statement::Kind::set_block;
  while (at_symbol("|")) made.expression = filter(std::move(made.expression));
  expect(TokenKind::block_end, "%}");
  made.body = block_until({"endset"});
  end_block("endset");
  return made;
}

std::vector<Parameter> Parser::parameters() {
  std::vector<Parameter> list;
  expect_symbol("(");
  while (!at_symbol(")")) {
    Parameter& made = list.emplace_back();
    made.name = expect_name();
    if (skip_symbol("="))
      made.default_value = expression();
    else if (list.size() > 1 && list[list.size() - 2].default_value)
      fail("a parameter without a default stands after one with it");
    if (!skip_symbol(",")) break;
  }
  expect_symbol(")");
  return list;
}

Statement Parser::macro_statement() {
  Statement made{.kind = Statement::Kind::macro};
  made.name = expect_name();
  made.parameters = parameters();
  expect(TokenKind::block_end, "%}");
  const int loops = std::exchange(loops_, 0);
  made.body = block_until({"endmacro"});
  loops_ = loops;
  end_block("endmacro");
  return made;
}

Statement Parser::call_statement() {
  Statement made{.kind = Statement::Kind::call_block};
  if (at_symbol("(")) made.parameters = parameters();
  made.expression = expression();
  if (made.expression->kind != Expression::Kind::call) fail("a call was expected");
  expect(TokenKind::block_end, "%}");
  const int loops = std::exchange(loops_, 0);
  made.body = block_until({"endcall"});
  loops_ = loops;
  end_block("endcall");
  return made;
}

Statement Parser::filter_statement() {
  Statement made{.kind = Statement::Kind::filter_block};
  --at_;  // `filter upper` reads like `| upper`
  tokens_[at_] = Token{TokenKind::symbol, "|", current().line};
  while (at_symbol("|")) made.expression = filter(std::move(made.expression));
  expect(TokenKind::block_end, "%}");
  made.body = block_until({"endfilter"});
  end_block("endfilter");
  return made;
}

Statement Parser::with_statement() {
  Statement made{.kind = Statement::Kind::with_block};
  while (current().kind != TokenKind::block_end) {
    if (!made.assignments.empty()) expect_symbol(",");
    Target name = single_target(false);
    expect_symbol("=");
    made.assignments.emplace_back(std::move(name), expression());
  }
  expect(TokenKind::block_end, "%}");
  made.body = block_until({"endwith"});
  end_block("endwith");
  return made;
}

}  // namespace lorikeet::jinja
