// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

class GgufFile;

/// The tokenizer.ggml.* metadata of a GGUF file (formats.md §7.3).
struct GgufTokenizer {
  std::string model;                ///< "llama" (SentencePiece) or "gpt2" (byte-level BPE)
  std::string pre;                  ///< names the pattern of a "gpt2" vocabulary, "" = default
  std::vector<std::string> tokens;  ///< by id
  std::vector<float> scores;        ///< by id; "llama" needs them
  std::vector<std::int32_t> types;  ///< by id, numbered as PieceType; may be missing
  std::vector<std::string> merges;  ///< "a b" in the order of their ranks; "gpt2" needs them
  std::int64_t bos_id = -1, eos_id = -1, unk_id = -1, pad_id = -1;
  std::optional<bool> add_bos, add_eos, add_space_prefix;
  std::string chat_template;
};

/// Throws Error(bad_format) naming file and key when a value has another type than it must have.
GgufTokenizer read_gguf_tokenizer(const GgufFile& file);

/// Throws Error(bad_format | unsupported) with `where` and what is wrong, or which model or `pre` is not
/// built.
std::unique_ptr<Tokenizer> make_gguf_tokenizer(GgufTokenizer metadata, const std::string& where);

}  // namespace lorikeet
