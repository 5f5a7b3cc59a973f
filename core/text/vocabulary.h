// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/text/tokenizer.h"

namespace lorikeet {

/// The pieces of a tokenizer, each with the id that is its place. Gaps are empty pieces that are never found.
class Vocabulary {
 public:
  static constexpr std::int64_t max_size = 1 << 20;
  static constexpr std::size_t max_piece_bytes = 8 << 10;

  Vocabulary() = default;
  /// Throws Error(bad_format) with `where` when there are too many, a piece is too long or two are the same.
  Vocabulary(std::vector<std::string> pieces, const std::string& where);

  std::int64_t size() const { return static_cast<std::int64_t>(pieces_.size()); }
  bool contains(TokenId id) const { return id >= 0 && id < size(); }
  /// "" for an id outside the vocabulary: models may have more rows than the tokenizer has pieces.
  const std::string& piece(TokenId id) const;
  TokenId find(std::string_view piece) const;  ///< -1 when absent
  bool is_special(TokenId id) const { return contains(id) && special_[static_cast<std::size_t>(id)]; }
  void set_special(TokenId id, bool special);

 private:
  std::vector<std::string> pieces_;
  std::vector<bool> special_;
  std::unordered_map<std::string_view, TokenId> index_;
};

/// What begins and ends a text, and the special roles.
struct SpecialTokens {
  TokenId bos = -1, eos = -1, pad = -1, unk = -1;
  std::vector<TokenId> before, after;  ///< put around a text by encode() with add_special
  std::string chat_template;
};

/// The part of Tokenizer that is the same for every kind.
class VocabularyTokenizer : public Tokenizer {
 public:
  std::string piece(TokenId id) const override { return vocabulary_.piece(id); }
  std::int64_t vocab_size() const override { return vocabulary_.size(); }
  bool is_special(TokenId id) const override { return vocabulary_.is_special(id); }
  TokenId id_of(std::string_view piece) const override { return vocabulary_.find(piece); }
  TokenId bos_id() const override { return special_.bos; }
  TokenId eos_id() const override { return special_.eos; }
  TokenId pad_id() const override { return special_.pad; }
  bool adds_bos() const override;
  std::string bos_token() const override { return vocabulary_.piece(special_.bos); }
  std::string eos_token() const override { return vocabulary_.piece(special_.eos); }
  std::string pad_token() const override { return vocabulary_.piece(special_.pad); }
  std::string unk_token() const override { return vocabulary_.piece(special_.unk); }
  const std::string& chat_template() const override { return special_.chat_template; }

 protected:
  VocabularyTokenizer(Vocabulary vocabulary, SpecialTokens special)
      : vocabulary_(std::move(vocabulary)), special_(std::move(special)) {}
  Vocabulary vocabulary_;
  SpecialTokens special_;
};

/// The byte that a piece like "<0x0A>" stands for, -1 for any other piece.
int byte_of_piece(std::string_view piece);

}  // namespace lorikeet
