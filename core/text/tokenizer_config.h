// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/text/added_tokens.h"
#include "core/text/vocabulary.h"

namespace lorikeet {

/// What the small files beside a tokenizer say: tokenizer_config.json, special_tokens_map.json,
/// added_tokens.json, chat_template.jinja and, for ids only, config.json. All of them may be missing.
struct TokenizerConfig {
  std::optional<bool> add_bos,
      add_eos;                       ///< where said, they stand over what tokenizer.json puts around a text
  bool legacy = true;                ///< the dummy prefix comes back after every special token
  std::string bos, eos, pad, unk;    ///< written form, "" = not said
  TokenId bos_id = -1, eos_id = -1;  ///< of config.json, read only where the other files are missing
  std::vector<std::string> more_special;  ///< additional_special_tokens
  std::vector<AddedToken> added;          ///< added_tokens_decoder and added_tokens.json
  std::string chat_template;
};

/// Reads them from `folder`. Throws Error naming the file and field that is wrong.
TokenizerConfig read_tokenizer_config(const std::string& folder);

/// Adds the tokens of the files to `pieces` (grown where ids lie beyond) and to `tokens`. A token that the
/// vocabulary has keeps the vocabulary's id; an id that another piece has is refused. Throws
/// Error(bad_format).
void merge_added_tokens(std::vector<std::string>& pieces, std::vector<AddedToken>& tokens,
                        const std::vector<AddedToken>& more, const std::string& where);

/// Ids of the roles, by written form, else by id; a form that the vocabulary lacks counts as none, since the
/// model has no row for it. Begin and end become special tokens, the others where they are added tokens ("!"
/// as padding stays text). `added` and `vocabulary` then agree on what is special.
SpecialTokens find_special_tokens(Vocabulary& vocabulary, std::vector<AddedToken>& added,
                                  const TokenizerConfig& config);

}  // namespace lorikeet
