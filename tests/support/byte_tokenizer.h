// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// A tokenizer for tests: every byte is the token of its value, special tokens come after 255 in the order
/// given. With a dummy prefix a text that does not continue another begins with a space, as sentencepiece's
/// does.
class ByteTokenizer : public Tokenizer {
 public:
  struct Options {
    std::vector<std::string> specials = {};
    std::string bos = {}, eos = {};
    std::string unk = {};
    bool has_pad = true;  ///< the end token stands for it
    bool adds_bos = false;
    bool adds_eos = false;
    bool dummy_prefix = false;
    std::string chat_template = {};
  };
  explicit ByteTokenizer(Options options) : options_(std::move(options)) {}

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options = {}) const override {
    std::vector<TokenId> ids;
    if (options.add_special && !options.continuation && options_.adds_bos) ids.push_back(bos_id());
    if (options_.dummy_prefix && !options.continuation && !text.empty()) ids.push_back(' ');
    while (!text.empty()) {
      std::size_t best = 0;
      TokenId id = static_cast<unsigned char>(text.front());
      for (std::size_t i = 0; options.parse_special && i < options_.specials.size(); ++i) {
        const std::string& special = options_.specials[i];
        if (special.size() > best && text.substr(0, special.size()) == special) {
          best = special.size();
          id = static_cast<TokenId>(256 + i);
        }
      }
      ids.push_back(id);
      text.remove_prefix(best == 0 ? 1 : best);
    }
    if (options.add_special && options_.adds_eos) ids.push_back(eos_id());
    return ids;
  }
  std::string decode(const std::vector<TokenId>& ids, bool skip_special = true) const override {
    std::string text;
    for (const TokenId id : ids) {
      if (!skip_special || !is_special(id)) text += token_bytes(id);
    }
    return text;
  }
  std::string token_bytes(TokenId id) const override {
    return id < 256 ? std::string(1, static_cast<char>(id))
                    : options_.specials[static_cast<std::size_t>(id - 256)];
  }
  std::string piece(TokenId id) const override { return token_bytes(id); }
  std::int64_t vocab_size() const override { return 256 + std::ssize(options_.specials); }
  bool is_special(TokenId id) const override { return id >= 256; }
  TokenId id_of(std::string_view piece) const override {
    for (std::size_t i = 0; i < options_.specials.size(); ++i) {
      if (options_.specials[i] == piece) return static_cast<TokenId>(256 + i);
    }
    return piece.size() == 1 ? static_cast<unsigned char>(piece.front()) : -1;
  }
  TokenId bos_id() const override { return options_.bos.empty() ? -1 : id_of(options_.bos); }
  TokenId eos_id() const override { return options_.eos.empty() ? -1 : id_of(options_.eos); }
  TokenId pad_id() const override { return options_.has_pad ? eos_id() : -1; }
  bool adds_bos() const override { return options_.adds_bos; }
  std::string bos_token() const override { return options_.bos; }
  std::string eos_token() const override { return options_.eos; }
  std::string pad_token() const override { return options_.has_pad ? options_.eos : ""; }
  std::string unk_token() const override { return options_.unk; }
  const std::string& chat_template() const override { return options_.chat_template; }

 private:
  Options options_;
};

}  // namespace lorikeet
