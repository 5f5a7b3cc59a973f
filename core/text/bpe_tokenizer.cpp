// SPDX-License-Identifier: Apache-2.0
#include "core/text/bpe_tokenizer.h"

#include <unordered_map>

#include "core/text/unicode.h"

namespace lorikeet {
namespace {

class BpeTokenizer : public VocabularyTokenizer {
 public:
  BpeTokenizer(BpeParts parts, const std::string& where)
      : VocabularyTokenizer(std::move(parts.vocabulary), std::move(parts.special)),
        normalizer_(std::move(parts.normalizer)),
        pre_tokenizer_(std::move(parts.pre_tokenizer)),
        decoder_(std::move(parts.decoder)),
        bpe_(vocabulary_, parts.bpe, where),
        is_added_(static_cast<std::size_t>(vocabulary_.size())) {
    std::vector<AddedToken> raw, normalized;
    for (AddedToken& token : parts.added) {
      is_added_[static_cast<std::size_t>(token.id)] = true;
      if (token.normalized) {
        token.content = normalizer_.apply(token.content, false);
        normalized_content_.emplace(token.id, token.content);
        if (!token.content.empty()) normalized.push_back(std::move(token));
      } else {
        raw.push_back(std::move(token));
      }
    }
    raw_tokens_ = AddedTokens(std::move(raw), where);
    normalized_tokens_ = AddedTokens(std::move(normalized), where);
  }

  std::vector<TokenId> encode(std::string_view text, const EncodeOptions& options) const override {
    std::string repaired;
    if (!is_valid_utf8(text)) text = repaired = replace_invalid_utf8(text);
    std::vector<TokenId> ids;
    if (options.add_special && !options.continuation) ids = special_.before;
    std::vector<TextPart> parts;
    raw_tokens_.split(text, options.parse_special, parts);
    for (const TextPart& part : parts) {
      if (part.id >= 0) {
        ids.push_back(part.id);
      } else {
        encode_part(part.text, part.text.data() == text.data(), options, ids);
      }
    }
    if (options.add_special) ids.insert(ids.end(), special_.after.begin(), special_.after.end());
    return ids;
  }

  std::string decode(const std::vector<TokenId>& ids, bool skip_special) const override {
    std::vector<std::string> pieces;
    pieces.reserve(ids.size());
    for (const TokenId id : ids) {
      if (!vocabulary_.contains(id) || (skip_special && is_special(id))) continue;
      pieces.push_back(written(id));
    }
    return decoder_.text(std::move(pieces));
  }

  std::string token_bytes(TokenId id) const override {
    if (!vocabulary_.contains(id)) return {};
    const bool cut_from_raw_text = is_added_[static_cast<std::size_t>(id)] && !normalized_content_.count(id);
    return cut_from_raw_text || is_special(id) ? vocabulary_.piece(id) : decoder_.bytes(written(id));
  }

 private:
  /// What a token took out of the normalised text: its piece, but for added tokens that were normalised
  /// themselves.
  const std::string& written(TokenId id) const {
    const auto found = normalized_content_.find(id);
    return found == normalized_content_.end() ? vocabulary_.piece(id) : found->second;
  }

  /// A part between raw added tokens; `at_start`: it begins the text.
  void encode_part(std::string_view text, bool at_start, const EncodeOptions& options,
                   std::vector<TokenId>& ids) const {
    std::string made;
    if (!normalizer_.empty()) text = made = normalizer_.apply(text, options.continuation && at_start);
    std::vector<TextPart> parts;
    normalized_tokens_.split(text, options.parse_special, parts);
    for (const TextPart& part : parts) {
      if (part.id >= 0) {
        ids.push_back(part.id);
        continue;
      }
      PieceList list;
      list.continuation = options.continuation;
      list.pieces.push_back({part.text, at_start && part.text.data() == text.data()});
      pre_tokenizer_.apply(list);
      for (const Piece& piece : list.pieces) bpe_.encode(piece.text, ids);
    }
  }

  Normalizer normalizer_;
  PreTokenizer pre_tokenizer_;
  Decoder decoder_;
  Bpe bpe_;
  std::vector<bool> is_added_;
  AddedTokens raw_tokens_, normalized_tokens_;
  std::unordered_map<TokenId, std::string> normalized_content_;
};

}  // namespace

std::unique_ptr<Tokenizer> make_bpe_tokenizer(BpeParts parts, const std::string& where) {
  return std::make_unique<BpeTokenizer>(std::move(parts), where);
}

}  // namespace lorikeet
