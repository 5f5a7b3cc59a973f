// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lorikeet {

struct GgufTokenizer;

/// The tokenizer of a GGUF file as the files of a Hugging Face folder, by name and content: tokenizer.json
/// for byte-level BPE, tokenizer.model for SentencePiece, and tokenizer_config.json with the roles and the
/// chat template. `context` is the model's, in tokens. Throws Error(bad_format | unsupported) with `where`.
std::vector<std::pair<std::string, std::string>> tokenizer_files(const GgufTokenizer& metadata,
                                                                 std::int64_t context,
                                                                 const std::string& where);

}  // namespace lorikeet
