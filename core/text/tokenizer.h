// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

using TokenId = std::int32_t;

/// How a text is turned into ids.
struct EncodeOptions {
  bool add_special = true;    ///< begin and end tokens as the tokenizer's own configuration says
  bool parse_special = true;  ///< special tokens written in the text become their ids; false for text from people
  /// The text goes on from ids that are already there: no begin token, no dummy prefix before the first word.
  bool continuation = false;
};

/// Text to ids and back, for one vocabulary. Immutable and thread-safe after loading.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  virtual std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const = 0;
  /// Ids to text as the reference decoder gives it; `skip_special` leaves out control tokens.
  virtual std::string decode(const std::vector<TokenId>& ids, bool skip_special = true) const = 0;

  /// The bytes one token adds in the middle of a text (a space kept, byte tokens as that byte, so that streaming can
  /// join them into UTF-8); control tokens give their written form.
  virtual std::string token_bytes(TokenId id) const = 0;
  /// The token as written in the vocabulary, for the token view, for example "▁the", "Ġthe" or "<0x0A>".
  virtual std::string piece(TokenId id) const = 0;
  virtual std::int64_t vocab_size() const = 0;          ///< ids are in [0, vocab_size)
  virtual bool is_special(TokenId id) const = 0;        ///< control token: never made from people's text
  virtual TokenId id_of(std::string_view piece) const = 0;  ///< -1 when the vocabulary lacks it

  virtual TokenId bos_id() const = 0;                   ///< -1 = none
  virtual TokenId eos_id() const = 0;                   ///< -1 = none
  virtual TokenId pad_id() const = 0;                   ///< -1 = none; padding is masked by position, never by id
  virtual bool adds_bos() const = 0;                    ///< encode() with add_special begins with bos
  /// Written form of bos, eos, pad and unk for chat templates ("" when there is none).
  virtual std::string bos_token() const = 0;
  virtual std::string eos_token() const = 0;
  virtual std::string pad_token() const = 0;
  virtual std::string unk_token() const = 0;
  /// The model's own chat template (tokenizer_config.json, chat_template.jinja or GGUF metadata), "" when none.
  virtual const std::string& chat_template() const = 0;
};

/// Loads the tokenizer of a base model: an HF folder (tokenizer.json, else tokenizer.model; with tokenizer_config.json,
/// special_tokens_map.json, chat_template.jinja), a single tokenizer.json or tokenizer.model file, or a GGUF file.
/// Throws Error naming the file and what is wrong with it.
std::unique_ptr<Tokenizer> load_tokenizer(const std::string& path);

}  // namespace lorikeet
