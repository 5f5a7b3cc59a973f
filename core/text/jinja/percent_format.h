// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/text/jinja/interpreter.h"

namespace lorikeet::jinja {

/// Python's `pattern % values` for %s, %r, %d, %i, %f, %.2f and %%, without widths.
TaggedText percent_format(Interpreter& interpreter, const TaggedText& pattern, const Value& values);

/// Python's `pattern.format(...)` for {}, {0} and {name} without a format after a colon.
TaggedText brace_format(Interpreter& interpreter, const TaggedText& pattern, const Arguments& arguments);

}  // namespace lorikeet::jinja
