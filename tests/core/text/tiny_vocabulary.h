// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/text/sentencepiece_model.h"
#include "tests/support/gguf_builder.h"

namespace lorikeet::test {

/// <unk>, <s>, </s>, the 256 byte pieces, ▁ and a few letters and words, scored as a trainer would.
inline SentencePieceModel tiny_model() {
  SentencePieceModel model;
  model.kind = SentencePieceModel::Kind::bpe;
  model.byte_fallback = true;
  model.remove_extra_whitespaces = false;
  model.pieces = {
      {"<unk>", 0, PieceType::unknown}, {"<s>", 0, PieceType::control}, {"</s>", 0, PieceType::control}};
  for (int byte = 0; byte < 256; ++byte) {
    char text[8];
    std::snprintf(text, sizeof text, "<0x%02X>", static_cast<unsigned>(byte));
    model.pieces.push_back({text, 0, PieceType::byte});
  }
  float score = 0;
  for (const char* text :
       {"▁h", "el", "▁hel", "lo", "▁hello", "▁w", "or", "ld", "▁wor", "▁world", "▁▁", "▁▁▁▁"}) {
    model.pieces.push_back({text, --score, PieceType::normal});
  }
  for (const char* text : {"▁", "h", "e", "l", "o", "w", "r", "d", "!", "é"}) {
    model.pieces.push_back({text, --score, PieceType::normal});
  }
  return model;
}

/// The same vocabulary as GGUF metadata.
inline GgufBuilder gguf_of(const SentencePieceModel& model) {
  std::vector<std::string> tokens;
  std::vector<float> scores;
  std::vector<std::int32_t> types;
  for (const ScoredPiece& piece : model.pieces) {
    tokens.push_back(piece.text);
    scores.push_back(piece.score);
    types.push_back(static_cast<std::int32_t>(piece.type));
  }
  GgufBuilder gguf;
  gguf.add_text("general.architecture", "llama").add_text("tokenizer.ggml.model", "llama");
  gguf.add_texts("tokenizer.ggml.tokens", tokens).add_f32s("tokenizer.ggml.scores", scores);
  gguf.add_i32s("tokenizer.ggml.token_type", types);
  gguf.add_u32("tokenizer.ggml.bos_token_id", 1).add_u32("tokenizer.ggml.eos_token_id", 2);
  return gguf;
}

}  // namespace lorikeet::test
