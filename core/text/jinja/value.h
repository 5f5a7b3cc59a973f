// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "core/text/jinja/tagged_text.h"

namespace lorikeet::jinja {

class Value;
class Interpreter;

/// A name or member that does not exist: prints as nothing and counts as false, but has no members.
struct Undefined {
  std::shared_ptr<const std::string> what;  ///< for messages, for example "'x' is undefined"
};
struct None {};

/// Lists and tuples never change once made. Interpreter::make_list() bounds their depth, so that destroying
/// them cannot exhaust the stack, and their weight (values in them at all depths), so that walking through
/// them ends.
struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  int depth = 1;
  std::int64_t weight = 1;
};

/// Keeps the order of insertion, as Python does.
struct Dict {
  std::vector<std::pair<Value, Value>> items;
  int depth = 1;
  std::int64_t weight = 1;

  const Value* find(const Value& key) const;
  const Value* find_name(std::string_view key) const;
};

/// What namespace() makes: the one kind of value that a template can change.
struct Space {
  std::vector<std::pair<std::string, Value>> members;
};

/// The variable `loop`: a list and where the loop stands in it.
struct Loop {
  std::shared_ptr<const List> list;
  std::size_t index = 0;
  int level = 1;  ///< of loops in each other
};

struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keyword;
};

/// Something that can be called: a macro, a function of the environment, or a method bound to its value.
class Callable {
 public:
  virtual ~Callable() = default;
  virtual Value call(Interpreter& interpreter, const Arguments& arguments) const = 0;
  /// As List::depth, of what it holds.
  virtual int depth() const { return 0; }
};

/// Any value of a template. Cheap to copy.
class Value {
 public:
  using Text = std::shared_ptr<const TaggedText>;

  Value() : data_(Undefined{}) {}
  Value(None none) : data_(none) {}
  Value(bool value) : data_(value) {}
  Value(std::int64_t value) : data_(value) {}
  Value(double value) : data_(value) {}
  Value(TaggedText text) : data_(std::make_shared<const TaggedText>(std::move(text))) {}
  Value(std::string text) : Value(TaggedText(std::move(text))) {}
  Value(const char* text) : Value(std::string(text)) {}
  Value(std::shared_ptr<const List> list) : data_(std::move(list)) {}
  Value(std::shared_ptr<const Dict> dict) : data_(std::move(dict)) {}
  Value(std::shared_ptr<Space> space) : data_(std::move(space)) {}
  Value(std::shared_ptr<Loop> loop) : data_(std::move(loop)) {}
  Value(std::shared_ptr<const Callable> callable) : data_(std::move(callable)) {}
  static Value undefined(std::string what);

  bool is_undefined() const { return std::holds_alternative<Undefined>(data_); }
  bool is_none() const { return std::holds_alternative<None>(data_); }
  const bool* boolean() const { return std::get_if<bool>(&data_); }
  const std::int64_t* integer() const { return std::get_if<std::int64_t>(&data_); }
  const double* real() const { return std::get_if<double>(&data_); }
  const TaggedText* text() const { return pointer<Text>(); }
  const List* list() const { return pointer<std::shared_ptr<const List>>(); }
  const Dict* dict() const { return pointer<std::shared_ptr<const Dict>>(); }
  Space* space() const { return pointer<std::shared_ptr<Space>>(); }
  Loop* loop() const { return pointer<std::shared_ptr<Loop>>(); }
  const Callable* callable() const { return pointer<std::shared_ptr<const Callable>>(); }
  std::shared_ptr<const List> shared_list() const { return std::get<std::shared_ptr<const List>>(data_); }

  /// True and False count as 1 and 0, as in Python.
  bool is_number() const { return boolean() || integer() || real(); }
  double as_real() const;
  /// A whole number, from an integer or a boolean.
  bool as_integer(std::int64_t& value) const;
  bool is_true() const;
  /// Why it is undefined.
  std::string undefined_text() const;
  /// As Python names the type, for messages.
  const char* type_name() const;
  int depth() const;
  std::int64_t weight() const;

 private:
  template <typename Pointer>
  auto pointer() const -> decltype(std::declval<const Pointer&>().get()) {
    const Pointer* held = std::get_if<Pointer>(&data_);
    return held ? held->get() : nullptr;
  }

  std::variant<Undefined, None, bool, std::int64_t, double, Text, std::shared_ptr<const List>,
               std::shared_ptr<const Dict>, std::shared_ptr<Space>, std::shared_ptr<Loop>,
               std::shared_ptr<const Callable>>
      data_;
};

/// Python's ==. Values of kinds that cannot be equal are unequal.
bool equal(const Value& a, const Value& b);
/// Python's order: -1, 0 or 1 for numbers, texts and lists; false in `comparable` for anything else.
int compare(const Value& a, const Value& b, bool& comparable);

}  // namespace lorikeet::jinja
