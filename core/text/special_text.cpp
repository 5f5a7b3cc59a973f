// SPDX-License-Identifier: Apache-2.0
#include "core/text/special_text.h"

#include <algorithm>

namespace lorikeet {

SpecialText::SpecialText(const Tokenizer& tokenizer) {
  const auto count = static_cast<TokenId>(tokenizer.vocab_size());
  for (TokenId id = 0; id < count; ++id) {
    if (!tokenizer.is_special(id)) continue;
    std::string text = tokenizer.token_bytes(id);
    if (text.empty()) continue;
    longest_ = std::max(longest_, text.size());
    by_first_byte_[static_cast<unsigned char>(text.front())].push_back({std::move(text), id});
  }
  for (std::vector<Token>& tokens : by_first_byte_) {
    std::stable_sort(tokens.begin(), tokens.end(),
                     [](const Token& a, const Token& b) { return a.text.size() > b.text.size(); });
  }
}

std::optional<SpecialText::Hit> SpecialText::find(std::string_view text, std::size_t from, std::size_t to,
                                                  std::size_t end) const {
  for (std::size_t i = from; i < std::min(to, text.size()); ++i) {
    for (const Token& token : by_first_byte_[static_cast<unsigned char>(text[i])]) {
      if (i + token.text.size() <= end && text.compare(i, token.text.size(), token.text) == 0) {
        return Hit{i, i + token.text.size(), token.id};
      }
    }
  }
  return std::nullopt;
}

bool SpecialText::touches(std::string_view text, std::size_t from, std::size_t to) const {
  const std::size_t first = from >= longest_ ? from - longest_ + 1 : 0;
  for (std::size_t i = first; i < to;) {
    const auto hit = find(text, i, to, text.size());
    if (!hit) return false;
    if (hit->end > from) return true;
    i = hit->begin + 1;
  }
  return false;
}

}  // namespace lorikeet
