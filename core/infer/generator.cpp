// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>

#include "core/infer/session.h"

namespace lorikeet {

const char* to_string(StopReason reason) {
  switch (reason) {
    case StopReason::end_token:
      return "end_token";
    case StopReason::length:
      return "length";
    case StopReason::context_full:
      return "context_full";
    case StopReason::cancelled:
      return "cancelled";
  }
  return "unknown";
}

Generator::Generator(Session& session, const Tokenizer& tokenizer, std::vector<TokenId> stop_ids,
                     Sampling sampling)
    : session_(session), tokenizer_(tokenizer), stop_ids_(std::move(stop_ids)), sampling_(sampling) {
  while (sampling_.seed == 0)
    sampling_.seed = (static_cast<std::uint64_t>(std::random_device{}()) << 21) ^ std::random_device{}();
}

void Generator::start(const std::vector<TokenId>& prompt, std::stop_token stop) {
  utf8_ = {};
  generated_ = 0;
  ended_ = false;
  session_.prefill(prompt, std::move(stop));
}

std::optional<Generator::Piece> Generator::next(std::stop_token stop) {
  if (ended_) return std::nullopt;
  const auto end = [&](StopReason reason) -> std::optional<Piece> {
    ended_ = true;
    reason_ = reason;
    Piece last;
    last.text = utf8_.finish();
    if (last.text.empty()) return std::nullopt;
    return last;
  };
  if (stop.stop_requested()) return end(StopReason::cancelled);
  if (generated_ >= sampling_.max_new_tokens) return end(StopReason::length);
  Piece piece;
  piece.id = session_.sample(sampling_, static_cast<std::uint64_t>(generated_));
  if (std::find(stop_ids_.begin(), stop_ids_.end(), piece.id) != stop_ids_.end())
    return end(StopReason::end_token);
  ++generated_;
  piece.text = utf8_.push(tokenizer_.token_bytes(piece.id));
  if (generated_ >= sampling_.max_new_tokens) return piece;  // its logits would not be used
  if (static_cast<std::int64_t>(session_.ids().size()) >= session_.context()) {
    ended_ = true;
    reason_ = StopReason::context_full;
    piece.text += utf8_.finish();
    return piece;
  }
  session_.decode(piece.id);  // computed while the caller shows this piece
  return piece;
}

}  // namespace lorikeet
