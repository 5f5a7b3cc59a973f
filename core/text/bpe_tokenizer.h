// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/text/added_tokens.h"
#include "core/text/bpe.h"
#include "core/text/decoder.h"
#include "core/text/normalizer.h"
#include "core/text/pre_tokenizer.h"
#include "core/text/tokenizer_config.h"
#include "core/text/vocabulary.h"

namespace lorikeet {

/// What a BPE tokenizer is put together from.
struct BpeParts {
  Vocabulary vocabulary;  ///< with the added tokens in it, and what is special marked
  SpecialTokens special;
  std::vector<AddedToken> added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  BpeSettings bpe;
  Decoder decoder;
};

/// Byte pair encoding with normalizer, pre-tokenizer and decoder: the models of tokenizer.json, and of GGUF
/// files whose tokenizer is "gpt2".
std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeParts parts, const std::string& where);

/// The tokenizer of a tokenizer.json. Throws Error naming `path` and what is broken or not built.
std::unique_ptr<Tokenizer> load_tokenizer_json(const std::string& path, const TokenizerConfig& config);

}  // namespace lorikeet
