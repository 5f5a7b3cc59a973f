// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// Kind of a piece, as numbered in tokenizer.model and in GGUF metadata (formats.md §6.5, §7.3).
enum class PieceType { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

struct ScoredPiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::normal;
};

/// A tokenizer.model as read and checked by our own reader (formats.md §6.5).
struct SentencePieceModel {
  enum class Kind { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<ScoredPiece> pieces;
  Kind kind = Kind::unigram;
  bool byte_fallback = false;
  TokenId unk_id = 0, bos_id = 1, eos_id = 2, pad_id = -1;
  bool whitespace_is_suffix = false;
  std::string normalizer_name;
  std::string charsmap;  ///< rules of the normalizer, "" = identity
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
  bool escape_whitespaces = true;
};

/// Reads the bytes of a tokenizer.model. Every length, count, kind, id and score is checked, and the
/// normalizer's rules too, so that what comes out is safe to hand to the sentencepiece library. Throws
/// Error(bad_format | unsupported) with `name` and what is wrong.
SentencePieceModel read_sentencepiece_model(std::string_view bytes, const std::string& name);

/// A model file with nothing in it but what was checked.
std::string write_sentencepiece_model(const SentencePieceModel& model);

/// Checks a precompiled charsmap: a double-array trie whose walks stay inside it, with values that are texts
/// behind it. Throws Error(bad_format).
void check_charsmap(std::string_view charsmap, const std::string& where);

}  // namespace lorikeet
