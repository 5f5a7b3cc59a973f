// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text/added_tokens.h"

namespace lorikeet {

/// tokenizer.json as read: the large lists apart, the rest as JSON.
struct TokenizerJson {
  std::vector<std::pair<std::string, std::int64_t>> vocabulary;  ///< of model.vocab, when that is an object
  std::vector<std::pair<std::string, std::string>> merges;       ///< of model.merges, in either syntax
  std::unique_ptr<nlohmann::json> rest;                          ///< all but those two
};

/// Reads tokenizer.json in one pass. Throws Error(bad_format) with `name` and where it is broken: JSON,
/// limits of depth and number, a merge that is no pair.
TokenizerJson read_tokenizer_json(std::string_view text, const std::string& name);

/// An entry of `added_tokens` or `added_tokens_decoder` (whose id is its key: give it as `id`).
AddedToken read_added_token(const nlohmann::json& entry, TokenId id, const std::string& where);

}  // namespace lorikeet
