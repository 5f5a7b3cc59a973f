// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/text/prompt.h"

namespace lorikeet {

/// The text of the ids with the trained parts between {{ and }}.
inline std::string marked(const EncodedText& text, const Tokenizer& tokenizer) {
  std::string result;
  std::size_t range = 0;
  for (std::int64_t i = 0; i <= std::ssize(text.ids); ++i) {
    if (range < text.trained.size() && i == text.trained[range].second) {
      result += "}}";
      ++range;
    }
    if (range < text.trained.size() && i == text.trained[range].first) result += "{{";
    if (i < std::ssize(text.ids)) result += tokenizer.token_bytes(text.ids[static_cast<std::size_t>(i)]);
  }
  return result;
}

}  // namespace lorikeet
