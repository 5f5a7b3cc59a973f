// SPDX-License-Identifier: Apache-2.0
// Functions of the environment and members of `loop`.
#include <ctime>

#include "core/text/jinja/methods.h"
#include "kernels/base/error.h"

namespace lorikeet::jinja {
namespace {

using FunctionBody = Value (*)(Interpreter& interpreter, const Arguments& arguments);

class Function : public Callable {
 public:
  explicit Function(FunctionBody body) : body_(body) {}
  Value call(Interpreter& interpreter, const Arguments& arguments) const override {
    return body_(interpreter, arguments);
  }

 private:
  FunctionBody body_;
};

/// loop.cycle, bound to its loop.
class Cycle : public Callable {
 public:
  explicit Cycle(std::size_t index) : index_(index) {}
  Value call(Interpreter& interpreter, const Arguments& arguments) const override {
    if (arguments.positional.empty()) interpreter.fail("cycle needs values");
    return arguments.positional[index_ % arguments.positional.size()];
  }

 private:
  std::size_t index_;
};

Value range(Interpreter& interpreter, const Arguments& arguments) {
  constexpr std::int64_t longest = 100'000;  // the sandbox's limit
  const ArgumentReader reader(interpreter, "range", arguments, {"start", "stop", "step"});
  const bool one = !reader.find(1);
  reader.get(0);
  const std::int64_t start = one ? 0 : reader.integer(0, 0), stop = reader.integer(one ? 0 : 1, 0);
  const std::int64_t step = reader.integer(2, 1);
  if (step == 0) interpreter.fail("a range with step 0");
  std::vector<Value> items;
  for (std::int64_t i = start; step > 0 ? i < stop : i > stop;) {
    if (std::ssize(items) == longest) interpreter.fail("a range of more than 100,000 numbers");
    items.emplace_back(i);
    if (__builtin_add_overflow(i, step, &i)) break;
  }
  return interpreter.make_list(std::move(items));
}

Value make_namespace(Interpreter& interpreter, const Arguments& arguments) {
  auto members = arguments.keyword;
  for (const Value& value : arguments.positional) {
    if (!value.dict()) interpreter.fail("namespace takes dicts and named values");
    for (const auto& [key, member] : value.dict()->items) {
      if (key.text()) members.emplace_back(key.text()->text(), member);
    }
  }
  return interpreter.make_space(std::move(members));
}

Value make_dict(Interpreter& interpreter, const Arguments& arguments) {
  std::vector<std::pair<Value, Value>> items;
  for (const Value& value : arguments.positional) {
    if (!value.dict()) interpreter.fail("dict takes dicts and named values");
    items.insert(items.end(), value.dict()->items.begin(), value.dict()->items.end());
  }
  for (const auto& [name, value] : arguments.keyword) items.emplace_back(Value(name), value);
  return interpreter.make_dict(std::move(items));
}

Value raise_exception(Interpreter& interpreter, const Arguments& arguments) {
  const ArgumentReader reader(interpreter, "raise_exception", arguments, {"message"});
  const std::string message = interpreter.text_of(reader.get(0)).text();
  throw Error(ErrorCode::bad_format, "The chat template refuses this conversation: " + message,
              interpreter.place(), "Change the conversation or its system text, or choose another template");
}

/// The local time, as Hugging Face's renderer gives it.
Value strftime_now(Interpreter& interpreter, const Arguments& arguments) {
  const std::string format = ArgumentReader(interpreter, "strftime_now", arguments, {"format"}).text(0, "");
  if (format.empty() || format.size() > 200) return "";
  const std::time_t now = std::time(nullptr);
  std::tm local = {};
  localtime_r(&now, &local);
  char buffer[1024];
  return std::string(buffer, std::strftime(buffer, sizeof buffer, format.c_str(), &local));
}

}  // namespace

std::shared_ptr<const Callable> find_function(const std::string& name) {
  constexpr std::pair<const char*, FunctionBody> functions[] = {{"range", range},
                                                                {"namespace", make_namespace},
                                                                {"dict", make_dict},
                                                                {"raise_exception", raise_exception},
                                                                {"strftime_now", strftime_now}};
  for (const auto& [known, body] : functions) {
    if (name == known) return std::make_shared<const Function>(body);
  }
  return nullptr;
}

Value loop_member(const Value& value, const std::string& name) {
  const Loop& loop = *value.loop();
  const std::vector<Value>& items = loop.list->items;
  const auto index = static_cast<std::int64_t>(loop.index), count = std::ssize(items);
  if (name == "index") return index + 1;
  if (name == "index0") return index;
  if (name == "revindex") return count - index;
  if (name == "revindex0") return count - index - 1;
  if (name == "first") return index == 0;
  if (name == "last") return index + 1 == count;
  if (name == "length") return count;
  if (name == "depth") return std::int64_t{loop.level};
  if (name == "depth0") return std::int64_t{loop.level - 1};
  if (name == "previtem" && index > 0) return items[loop.index - 1];
  if (name == "nextitem" && index + 1 < count) return items[loop.index + 1];
  if (name == "cycle") return std::shared_ptr<const Callable>(std::make_shared<const Cycle>(loop.index));
  return Value::undefined("a loop has no member \"" + name + "\" here");
}

}  // namespace lorikeet::jinja
