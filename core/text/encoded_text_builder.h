// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "core/text/prompt.h"

namespace lorikeet {

/// Puts an EncodedText together piece by piece. The first piece carries the begin token when the tokenizer
/// adds one; every later piece is encoded as its continuation.
class EncodedTextBuilder {
 public:
  explicit EncodedTextBuilder(const Tokenizer& tokenizer) : tokenizer_(&tokenizer) {}

  /// Text in which special tokens count (`parse_special`: text of a template) or are plain text (text of
  /// people).
  void text(std::string_view piece, bool parse_special = false);
  /// People's text, then the end token when there is one (-1 = none).
  void answer(std::string_view piece, TokenId end_id, bool trained);
  void token(TokenId id);

  std::int64_t size() const { return std::ssize(result_.ids); }
  /// The place behind the first `id` at or after `from`; `from` when there is none.
  std::int64_t after(TokenId id, std::int64_t from) const;
  /// Marks the ids [begin, end) as trained; nothing when there are none. Ranges are given in order.
  void train(std::int64_t begin, std::int64_t end);
  EncodedText take() { return std::move(result_); }

 private:
  const Tokenizer* tokenizer_;
  EncodedText result_;
  bool started_ = false;
};

}  // namespace lorikeet
