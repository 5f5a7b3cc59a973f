// SPDX-License-Identifier: Apache-2.0
#include "core/text/jinja/interpreter.h"

#include <algorithm>

#include "core/text/jinja/characters.h"
#include "core/text/jinja/guards.h"
#include "kernels/base/error.h"

namespace lorikeet::jinja {

/// A macro, or the body of a call block.
class Macro : public Callable {
 public:
  Macro(const Statement& statement, std::shared_ptr<Scope> scope)
      : statement_(statement), scope_(std::move(scope)) {}
  Value call(Interpreter& interpreter, const Arguments& arguments) const override {
    return interpreter.run_macro(statement_, scope_, arguments);
  }

 private:
  const Statement& statement_;
  std::shared_ptr<Scope> scope_;
};

Interpreter::Interpreter(std::vector<std::pair<std::string, Value>> variables)
    : scope_(std::make_shared<Scope>(Scope{nullptr, std::move(variables)})) {}

Interpreter::~Interpreter() {
  for (const auto& scope : scopes_with_macros_) scope->variables.clear();
  for (const auto& space : spaces_) space->members.clear();
}

void Interpreter::charge(std::int64_t steps) {
  steps_ += steps;
  if (steps_ > max_steps) fail("it takes more than a million steps");
}

void Interpreter::fail(const std::string& what) const {
  throw Error(ErrorCode::bad_format, "The chat template fails, " + what, place());
}

void Interpreter::run(const Block& block) {
  scope_ = std::make_shared<Scope>(Scope{scope_, {}});
  execute(block);
}

void Interpreter::print(const TaggedText& text) {
  charge(static_cast<std::int64_t>(text.size() / 64));
  if (out_->size() + text.size() > max_text_bytes) fail("it writes more than 4 MiB");
  out_->append(text);
}

TaggedText Interpreter::capture(const Block& block) {
  TaggedText text;
  const Restore<TaggedText*> output(out_);
  out_ = &text;
  execute(block);
  return text;
}

void Interpreter::define(const std::string& name, Value value) {
  charge(1 + std::ssize(scope_->variables) / 16);
  for (auto& [known, old] : scope_->variables) {
    if (known != name) continue;
    old = std::move(value);
    return;
  }
  scope_->variables.emplace_back(name, std::move(value));
}

void Interpreter::store(const Target& target, const Value& value) {
  if (!target.parts.empty()) {
    const auto list = iterate(value);
    if (list->items.size() != target.parts.size()) {
      fail(std::to_string(target.parts.size()) + " values were expected, not " +
           std::to_string(list->items.size()));
    }
    for (std::size_t i = 0; i < target.parts.size(); ++i) store(target.parts[i], list->items[i]);
    return;
  }
  if (target.member.empty()) return define(target.name, value);
  Expression name{.kind = Expression::Kind::name, .line = line_, .name = target.name};
  const Value holder = evaluate(name);
  if (!holder.space()) fail("only members of a namespace can be set, \"" + target.name + "\" is none");
  auto& members = holder.space()->members;
  charge(1 + std::ssize(members) / 16);
  const auto known =
      std::find_if(members.begin(), members.end(), [&](const auto& m) { return m.first == target.member; });
  if (known != members.end())
    known->second = value;
  else
    members.emplace_back(target.member, value);
}

Interpreter::Flow Interpreter::execute(const Block& block) {
  for (const Statement& statement : block) {
    if (const Flow flow = execute(statement); flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::execute(const Statement& statement) {
  using Kind = Statement::Kind;
  const DepthGuard guard(*this, depth_);
  charge(1);
  line_ = statement.line;
  switch (statement.kind) {
    case Kind::data:
      print(TaggedText(statement.text));
      break;
    case Kind::output:
      print(text_of(evaluate(*statement.expression)));
      break;
    case Kind::if_block:
      return run_if(statement);
    case Kind::for_block:
      return run_for(statement);
    case Kind::set:
      store(statement.target, evaluate(*statement.expression));
      break;
    case Kind::set_block: {
      Value text = make_text(capture(statement.body));
      if (statement.expression) text = filter(*statement.expression, &text);
      store(statement.target, text);
      break;
    }
    case Kind::macro:
      define(statement.name, make_macro(statement));
      break;
    case Kind::call_block:
      run_call(statement);
      break;
    case Kind::filter_block: {
      const Value text = make_text(capture(statement.body));
      print(text_of(filter(*statement.expression, &text)));
      break;
    }
    case Kind::with_block:
      return run_with(statement);
    case Kind::generation: {
      const std::size_t begin = root_.size();
      const Flow flow = execute(statement.body);
      if (out_ == &root_) generation_.emplace_back(begin, root_.size());
      return flow;
    }
    case Kind::break_loop:
      return Flow::leave_loop;
    case Kind::continue_loop:
      return Flow::next_round;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::run_if(const Statement& statement) {
  for (const auto& [condition, body] : statement.branches) {
    if (!condition || evaluate(*condition).is_true()) return execute(body);
  }
  return Flow::normal;
}

/// The members of a list for which the condition of a for block holds.
std::vector<Value> Interpreter::filtered(const Statement& statement, const List& list) {
  std::vector<Value> kept;
  for (const Value& item : list.items) {
    const Restore<std::shared_ptr<Scope>> outer(scope_);
    scope_ = std::make_shared<Scope>(Scope{scope_, {}});
    store(statement.target, item);
    if (evaluate(*statement.condition).is_true()) kept.push_back(item);
  }
  return kept;
}

Interpreter::Flow Interpreter::run_for(const Statement& statement) {
  const Restore<std::shared_ptr<Scope>> outer(scope_);
  std::shared_ptr<const List> list = iterate(evaluate(*statement.expression));
  if (statement.condition) list = make_list(filtered(statement, *list)).shared_list();
  int level = 1;
  for (const Scope* scope = scope_.get(); scope; scope = scope->parent.get()) {
    if (!scope->variables.empty() && scope->variables.front().second.loop()) {
      level = scope->variables.front().second.loop()->level + 1;
      break;
    }
  }
  if (list->depth + 1 > max_value_depth) fail("values are nested too deep");
  for (std::size_t i = 0; i < list->items.size(); ++i) {
    charge(2);
    auto loop = std::make_shared<Loop>(Loop{list, i, level});
    scope_ = std::make_shared<Scope>(Scope{outer.value(), {{"loop", std::move(loop)}}});
    store(statement.target, list->items[i]);
    if (execute(statement.body) == Flow::leave_loop) return Flow::normal;
  }
  if (!list->items.empty()) return Flow::normal;
  scope_ = std::make_shared<Scope>(Scope{outer.value(), {}});
  return execute(statement.otherwise);
}

Interpreter::Flow Interpreter::run_with(const Statement& statement) {
  std::vector<Value> values;
  for (const auto& [target, expression] : statement.assignments) values.push_back(evaluate(*expression));
  const Restore<std::shared_ptr<Scope>> outer(scope_);
  scope_ = std::make_shared<Scope>(Scope{scope_, {}});
  for (std::size_t i = 0; i < values.size(); ++i) store(statement.assignments[i].first, values[i]);
  return execute(statement.body);
}

std::shared_ptr<const Callable> Interpreter::make_macro(const Statement& statement) {
  charge(10);
  if (scopes_with_macros_.empty() || scopes_with_macros_.back() != scope_)
    scopes_with_macros_.push_back(scope_);
  return std::make_shared<const Macro>(statement, scope_);
}

void Interpreter::run_call(const Statement& statement) {
  const Expression& expression = *statement.expression;
  const Value callee = evaluate(*expression.children[0]);
  Arguments given = arguments(expression);
  given.keyword.emplace_back("caller", make_macro(statement));
  print(text_of(call(callee, given)));
}

Value Interpreter::run_macro(const Statement& macro, const std::shared_ptr<Scope>& scope,
                             const Arguments& arguments) {
  const DepthGuard guard(*this, depth_);
  const DepthGuard calls(*this, macro_depth_, max_macro_depth);
  const Restore<std::shared_ptr<Scope>> outer(scope_);
  const std::string shown = macro.name.empty() ? "caller" : macro.name;
  scope_ = std::make_shared<Scope>(Scope{scope, {}});
  if (arguments.positional.size() > macro.parameters.size()) {
    fail("the macro \"" + shown + "\" takes " + std::to_string(macro.parameters.size()) + " values, not " +
         std::to_string(arguments.positional.size()));
  }
  for (const auto& [name, value] : arguments.keyword) {
    const bool known = std::any_of(macro.parameters.begin(), macro.parameters.end(),
                                   [&](const Parameter& parameter) { return parameter.name == name; });
    if (!known && name != "caller") fail("the macro \"" + shown + "\" has no parameter \"" + name + "\"");
    define(name, value);
  }
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const Parameter& parameter = macro.parameters[i];
    const bool named = std::any_of(arguments.keyword.begin(), arguments.keyword.end(),
                                   [&](const auto& given) { return given.first == parameter.name; });
    if (i < arguments.positional.size()) {
      if (named) fail("the macro \"" + shown + "\" gets \"" + parameter.name + "\" twice");
      define(parameter.name, arguments.positional[i]);
    } else if (!named) {
      define(parameter.name, parameter.default_value ? evaluate(*parameter.default_value)
                                                     : Value::undefined("the parameter \"" + parameter.name +
                                                                        "\" was not given"));
    }
  }
  return make_text(capture(macro.body));
}

}  // namespace lorikeet::jinja
