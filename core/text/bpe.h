// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/text/vocabulary.h"

namespace lorikeet {

/// What a BPE model is made of besides its vocabulary.
struct BpeSettings {
  std::vector<std::pair<std::string, std::string>> merges;  ///< in the order of their ranks
  std::string unk_token;                                    ///< "" = none
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;
  bool byte_level =
      false;  ///< texts are bytes, each written as one character in the vocabulary (formats.md §6.2)
};

/// Byte pair encoding (formats.md §6.1): from single characters, merge the adjacent pair of the lowest rank,
/// the leftmost first, until none is left. Immutable and thread-safe.
class Bpe {
 public:
  /// Special tokens of the vocabulary never come out of merges. Throws Error(bad_format) naming the merge
  /// that the vocabulary lacks. `vocabulary` must outlive this.
  Bpe(const Vocabulary& vocabulary, const BpeSettings& settings, const std::string& where);

  /// Appends the ids of one piece (UTF-8, or the bytes of one when byte level).
  void encode(std::string_view piece, std::vector<TokenId>& out) const;

 private:
  struct Merge {
    std::uint64_t pair;
    std::uint32_t rank;
    TokenId made;
  };
  void add_merges(const BpeSettings& settings, const std::string& where);
  void find_first_ids();
  const Merge* merge_of(TokenId left, TokenId right) const;
  void encode_word(std::string_view word, std::vector<TokenId>& out) const;
  void start_word(std::string_view word, std::vector<TokenId>& ids) const;
  void merge_short(std::vector<TokenId>& ids, std::size_t first) const;
  void merge_long(std::vector<TokenId>& ids, std::size_t first) const;

  const Vocabulary& vocabulary_;
  std::vector<Merge> merges_;  ///< open addressing, a power of two of slots
  int shift_ = 0;
  std::array<TokenId, 256> byte_ids_{};                   ///< of single bytes: byte level, or byte fallback
  std::unordered_map<std::string, TokenId> whole_words_;  ///< byte level with ignore_merges: bytes to id
  TokenId unk_ = -1;
  bool fuse_unk_, byte_fallback_, ignore_merges_, byte_level_;
  bool cuts_at_spaces_ = false;  ///< no token goes over an edge of "not ▁" and "▁": texts may be cut there
};

}  // namespace lorikeet
