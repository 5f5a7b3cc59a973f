// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/text/jinja/value.h"

namespace lorikeet::jinja {

/// The largest text that a template may make.
inline constexpr std::size_t max_text_bytes = std::size_t{4} << 20;

/// Python's str(): what {{ }} prints. Throws std::length_error beyond max_text_bytes.
TaggedText to_text(const Value& value);
/// Python's repr(): how a value stands inside a printed list.
TaggedText to_repr(const Value& value);

struct JsonStyle {
  int indent = -1;  ///< -1: on one line
  bool sort_keys = false;
  bool ensure_ascii = false;
  std::string item_separator = ", ";  ///< without the space when indented
  std::string key_separator = ": ";
};
/// Python's json.dumps() without the escaping of HTML, as Hugging Face's tojson is. Text of messages keeps
/// its source. Throws std::invalid_argument for values that JSON does not have.
TaggedText to_json(const Value& value, const JsonStyle& style);

/// Python's repr() of a float: the shortest digits that read back the same.
std::string float_text(double value);

}  // namespace lorikeet::jinja
