// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace lorikeet {

/// Length in bytes of the longest prefix that is valid UTF-8 (RFC 3629: shortest forms, no surrogates, at
/// most U+10FFFF); the size of the text when all of it is valid.
std::size_t valid_utf8_prefix(std::string_view text);

/// Appends one code point. A surrogate half is written as the three bytes of its number, which is not valid
/// UTF-8 and so is found by valid_utf8_prefix() later; numbers above U+10FFFF are not allowed.
void append_utf8(std::string& text, std::uint32_t code_point);

/// Takes the code point that starts at `position` (which moves past it) out of valid UTF-8.
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

}  // namespace lorikeet
