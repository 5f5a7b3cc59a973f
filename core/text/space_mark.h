// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lorikeet {

/// What SentencePiece writes for a space: ▁, U+2581.
inline constexpr std::string_view kSpaceMark = "\xE2\x96\x81";

/// Where `text` can be cut before a ▁ that follows something else, at or after `from`; its size when nowhere.
/// Where no token goes over such an edge, the parts can be encoded one by one.
std::size_t next_space_edge(std::string_view text, std::size_t from);

/// Spaces as ▁, with one more in front when `prefix` and the text is not empty.
std::string with_space_marks(std::string_view text, bool prefix);
/// ▁ as spaces.
std::string with_spaces(std::string_view piece);

}  // namespace lorikeet
