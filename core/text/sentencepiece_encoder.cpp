// SPDX-License-Identifier: Apache-2.0
#include <sentencepiece_processor.h>

#include "core/text/sentencepiece_tokenizer.h"
#include "core/text/space_mark.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t kChunkBytes = 4 << 10;  // the library's queue of pairs then stays in the cache

/// Whether no piece holds a space after something else, so that a text may be cut before such spaces.
bool may_cut_at_spaces(const SentencePieceModel& model) {
  if (model.kind != SentencePieceModel::Kind::bpe || !model.charsmap.empty() ||
      model.remove_extra_whitespaces) {
    return false;
  }
  bool has_mark = false;
  for (const ScoredPiece& piece : model.pieces) {
    if (piece.type != PieceType::normal && piece.type != PieceType::user_defined) continue;
    if (piece.text == kSpaceMark) has_mark = true;
    if (next_space_edge(piece.text, 0) < piece.text.size()) return false;
    if (piece.text.find(' ') != std::string::npos) return false;
  }
  return has_mark;
}

class LibraryEncoder : public PieceEncoder {
 public:
  LibraryEncoder(const SentencePieceModel& model, const std::string& where)
      : may_cut_(may_cut_at_spaces(model)), where_(where) {
    SentencePieceModel copy = model;
    load(copy, whole_);
    copy.add_dummy_prefix = false;
    load(copy, inner_);
  }

  void encode(std::string_view text, bool dummy_prefix, std::vector<TokenId>& ids) const override {
    const sentencepiece::SentencePieceProcessor* processor = dummy_prefix ? &whole_ : &inner_;
    while (!text.empty()) {
      const std::size_t size = may_cut_ ? cut(text) : text.size();
      std::vector<int> made;
      const auto status = processor->Encode(std::string_view(text.data(), size), &made);
      if (!status.ok())
        throw Error(ErrorCode::bad_format, "SentencePiece failed: " + status.ToString(), where_);
      ids.insert(ids.end(), made.begin(), made.end());
      text.remove_prefix(size);
      processor = &inner_;
    }
  }

 private:
  void load(const SentencePieceModel& model, sentencepiece::SentencePieceProcessor& processor) const {
    const auto status = processor.LoadFromSerializedProto(write_sentencepiece_model(model));
    if (!status.ok())
      throw Error(ErrorCode::bad_format, "SentencePiece refused the model: " + status.ToString(), where_);
  }

  static std::size_t cut(std::string_view text) {
    for (std::size_t at = kChunkBytes; at < text.size(); ++at) {
      if (text[at] == ' ' && text[at - 1] != ' ' && text.substr(at - 3, 3) != kSpaceMark) return at;
    }
    return text.size();
  }

  sentencepiece::SentencePieceProcessor whole_, inner_;
  bool may_cut_;
  std::string where_;
};

}  // namespace

std::unique_ptr<PieceEncoder> make_sentencepiece_encoder(const SentencePieceModel& model,
                                                         const std::string& where) {
  return std::make_unique<LibraryEncoder>(model, where);
}

}  // namespace lorikeet
