// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "core/text/jinja/interpreter.h"

namespace lorikeet::jinja {

ArgumentReader::ArgumentReader(Interpreter& interpreter, const char* function, const Arguments& arguments,
                               std::initializer_list<const char*> names)
    : interpreter_(interpreter), function_(function), arguments_(arguments), names_(names) {
  if (arguments.positional.size() > names_.size()) {
    interpreter.fail(std::string(function) + " takes at most " + std::to_string(names_.size()) + " values");
  }
  for (const auto& [name, value] : arguments.keyword) {
    const bool known =
        std::any_of(names_.begin(), names_.end(), [&k = name](const char* n) { return k == n; });
    if (!known) interpreter.fail(std::string(function) + " has no parameter \"" + name + "\"");
  }
}

const Value* ArgumentReader::find(std::size_t index) const {
  if (index < arguments_.positional.size()) return &arguments_.positional[index];
  for (const auto& [name, value] : arguments_.keyword) {
    if (name == names_[index]) return &value;
  }
  return nullptr;
}

const Value& ArgumentReader::get(std::size_t index) const {
  if (const Value* value = find(index)) return *value;
  interpreter_.fail(std::string(function_) + " needs \"" + names_[index] + "\"");
}

std::string ArgumentReader::text(std::size_t index, const char* fallback) const {
  const Value* value = find(index);
  if (!value || value->is_none()) return fallback;
  if (!value->text())
    interpreter_.fail(std::string(function_) + " needs a text, not a " + value->type_name());
  return value->text()->text();
}

std::int64_t ArgumentReader::integer(std::size_t index, std::int64_t fallback) const {
  const Value* value = find(index);
  if (!value || value->is_none()) return fallback;
  std::int64_t number = 0;
  if (!value->as_integer(number)) {
    interpreter_.fail(std::string(function_) + " needs a whole number, not a " + value->type_name());
  }
  return number;
}

bool ArgumentReader::truth(std::size_t index, bool fallback) const {
  const Value* value = find(index);
  return value ? value->is_true() : fallback;
}

}  // namespace lorikeet::jinja
