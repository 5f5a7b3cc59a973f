// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace lorikeet::jinja {

/// Decodes the inside of a quoted text as Python does: \n and the like, \xhh, \uhhhh, \Uhhhhhhhh, octal; a
/// backslash before a line end joins the lines; an unknown escape stays as it is. False for escapes that are
/// cut off, name no character, or are \N{...}.
bool decode_string_literal(std::string_view written, std::string& text);

}  // namespace lorikeet::jinja
