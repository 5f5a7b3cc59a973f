// SPDX-License-Identifier: Apache-2.0
#include "core/text/encoded_text_builder.h"

#include <algorithm>

namespace lorikeet {

void EncodedTextBuilder::text(std::string_view piece, bool parse_special) {
  // add_special is never set: it may add an end token too, which a prompt must not have.
  const EncodeOptions options{.add_special = false, .parse_special = parse_special, .continuation = started_};
  const std::vector<TokenId> ids = tokenizer_->encode(piece, options);
  const TokenId bos = tokenizer_->bos_id();
  if (!started_ && tokenizer_->adds_bos() && bos >= 0 && (ids.empty() || ids.front() != bos))
    result_.ids.push_back(bos);
  started_ = true;
  result_.ids.insert(result_.ids.end(), ids.begin(), ids.end());
  result_.text += piece;
}

void EncodedTextBuilder::answer(std::string_view piece, TokenId end_id, bool trained) {
  const std::int64_t begin = size();
  text(piece);
  if (end_id >= 0) token(end_id);
  if (trained) train(begin, size());
}

void EncodedTextBuilder::token(TokenId id) {
  result_.ids.push_back(id);
  result_.text += tokenizer_->token_bytes(id);
}

std::int64_t EncodedTextBuilder::after(TokenId id, std::int64_t from) const {
  const auto found = std::find(result_.ids.begin() + from, result_.ids.end(), id);
  return found == result_.ids.end() ? from : found - result_.ids.begin() + 1;
}

void EncodedTextBuilder::train(std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  if (!result_.trained.empty() && result_.trained.back().second == begin) {
    result_.trained.back().second = end;
  } else {
    result_.trained.emplace_back(begin, end);
  }
}

}  // namespace lorikeet
