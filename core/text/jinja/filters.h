// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "core/text/jinja/interpreter.h"

namespace lorikeet::jinja {

using Filter = Value (*)(Interpreter& interpreter, const Value& subject, const Arguments& arguments);
using Test = bool (*)(Interpreter& interpreter, const Value& subject, const Arguments& arguments);

/// Null for an unknown name.
Filter find_filter(std::string_view name);
Test find_test(std::string_view name);

/// Filters by the file they stand in.
Filter find_text_filter(std::string_view name);
Filter find_list_filter(std::string_view name);

}  // namespace lorikeet::jinja
