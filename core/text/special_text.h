// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// Finds the written forms of a vocabulary's special tokens in texts.
class SpecialText {
 public:
  struct Hit {
    std::size_t begin = 0, end = 0;
    TokenId id = -1;
  };

  explicit SpecialText(const Tokenizer& tokenizer);

  /// The first special token that begins in [from, to) and ends by `end`; the longest where several begin.
  std::optional<Hit> find(std::string_view text, std::size_t from, std::size_t to, std::size_t end) const;
  /// Whether a special token's written form overlaps [from, to).
  bool touches(std::string_view text, std::size_t from, std::size_t to) const;

 private:
  struct Token {
    std::string text;
    TokenId id;
  };
  std::array<std::vector<Token>, 256> by_first_byte_;  ///< the longest first
  std::size_t longest_ = 0;
};

}  // namespace lorikeet
