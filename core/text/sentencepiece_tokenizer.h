// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/added_tokens.h"
#include "core/text/sentencepiece_model.h"
#include "core/text/tokenizer_config.h"
#include "core/text/vocabulary.h"

namespace lorikeet {

/// Turns a text without special tokens into ids of a SentencePiece vocabulary.
class PieceEncoder {
 public:
  virtual ~PieceEncoder() = default;
  /// Appends the ids of valid UTF-8; `dummy_prefix`: as at the beginning of a text.
  virtual void encode(std::string_view text, bool dummy_prefix, std::vector<TokenId>& ids) const = 0;
};

/// By the sentencepiece library. Throws Error(bad_format) when the library refuses the model.
std::unique_ptr<PieceEncoder> make_sentencepiece_encoder(const SentencePieceModel& model,
                                                         const std::string& where);

/// What a SentencePiece tokenizer is put together from.
struct SentencePieceParts {
  std::vector<PieceType> types;  ///< by id
  Vocabulary vocabulary;         ///< with the added tokens in it, and what is special marked
  SpecialTokens special;
  std::vector<AddedToken> added;
  bool add_dummy_prefix = true;
  bool legacy = true;  ///< the dummy prefix comes back after every added token
  std::unique_ptr<PieceEncoder> encoder;
};

std::unique_ptr<Tokenizer> make_sentencepiece_tokenizer(SentencePieceParts parts, const std::string& where);

/// The tokenizer of a tokenizer.model. Throws Error naming `path` and what is broken or not built.
std::unique_ptr<Tokenizer> load_sentencepiece_tokenizer(const std::string& path,
                                                        const TokenizerConfig& config);

}  // namespace lorikeet
