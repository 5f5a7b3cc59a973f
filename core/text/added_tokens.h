// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// A token that is cut out of a text before the model sees the rest.
struct AddedToken {
  std::string content;
  TokenId id = -1;
  bool single_word = false;  ///< only where no word character touches it
  bool lstrip = false;       ///< swallows white space before it
  bool rstrip = false;       ///< swallows white space after it
  bool normalized = false;   ///< looked for in the normalised text
  bool special = false;      ///< control token: only with parse_special
};

/// Part of a text: a token's id, or text between tokens (id -1).
struct TextPart {
  std::string_view text;
  TokenId id;
};

/// Finds added tokens, leftmost first and the longest there (formats.md §6.3).
class AddedTokens {
 public:
  static constexpr std::size_t max_bytes = 4 << 10;

  AddedTokens() = default;
  /// Throws Error(bad_format) with `where` for a token that is empty or too long.
  AddedTokens(std::vector<AddedToken> tokens, const std::string& where);

  bool empty() const { return tokens_.empty(); }
  /// Appends the parts of valid UTF-8, none empty. Without `parse_special` special tokens count as text.
  void split(std::string_view text, bool parse_special, std::vector<TextPart>& parts) const;

 private:
  std::int32_t longest_at(std::string_view text, std::size_t at) const;
  std::vector<AddedToken> tokens_;
  std::unordered_map<std::uint64_t, std::uint32_t> edges_;  ///< of a trie: node << 8 | byte to node
  std::vector<std::int32_t> ends_;  ///< by node: index of the token that ends there, or -1
  std::array<bool, 256> begins_{};
};

}  // namespace lorikeet
