// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lorikeet {

/// The character that stands for a byte in byte-level vocabularies (formats.md §6.2): printable Latin-1
/// stands for itself, the other 68 bytes for U+0100 on, in order.
char32_t byte_level_char(unsigned char byte);
/// The bytes that a byte-level piece stands for; nothing when one of its characters is not of that alphabet.
std::optional<std::string> byte_level_bytes(std::string_view piece);

}  // namespace lorikeet
