// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "core/text/jinja/interpreter.h"

namespace lorikeet::jinja {

/// A method of a text, list or dict, bound to `self`; null when it has none of this name. Methods that would
/// change their value are not there.
std::shared_ptr<const Callable> bind_method(const Value& self, const std::string& name);

/// A member of the variable `loop`.
Value loop_member(const Value& loop, const std::string& name);

/// A function of the environment: range, dict, namespace, raise_exception, strftime_now; null for other
/// names.
std::shared_ptr<const Callable> find_function(const std::string& name);

/// `count` copies one after the other.
TaggedText repeat(Interpreter& interpreter, const TaggedText& text, std::int64_t count);
Value repeat(Interpreter& interpreter, const List& list, std::int64_t count);

/// Pieces of `text` between separators, or between white space when `separator` is null; at most `limit` cuts
/// (-1 = all), counted from the right when `from_right`.
Value split(Interpreter& interpreter, const TaggedText& text, const std::string* separator,
            std::int64_t limit, bool from_right);
TaggedText join(Interpreter& interpreter, const List& list, const TaggedText& separator);
TaggedText replace(Interpreter& interpreter, const TaggedText& text, const std::string& from,
                   const TaggedText& to, std::int64_t limit);

}  // namespace lorikeet::jinja
