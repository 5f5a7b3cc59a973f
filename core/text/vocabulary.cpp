// SPDX-License-Identifier: Apache-2.0
#include "core/text/vocabulary.h"

#include "kernels/base/error.h"

namespace lorikeet {

Vocabulary::Vocabulary(std::vector<std::string> pieces, const std::string& where)
    : pieces_(std::move(pieces)), special_(pieces_.size()) {
  if (size() > max_size) {
    throw Error(ErrorCode::bad_format, "The vocabulary has more than " + std::to_string(max_size) + " pieces",
                where);
  }
  index_.reserve(pieces_.size());
  for (std::size_t id = 0; id < pieces_.size(); ++id) {
    const std::string& piece = pieces_[id];
    if (piece.empty()) continue;
    if (piece.size() > max_piece_bytes) {
      throw Error(ErrorCode::bad_format, "Piece " + std::to_string(id) + " of the vocabulary is too long",
                  where);
    }
    if (!index_.emplace(piece, static_cast<TokenId>(id)).second) {
      throw Error(ErrorCode::bad_format, "The vocabulary has the piece \"" + piece + "\" twice", where);
    }
  }
}

const std::string& Vocabulary::piece(TokenId id) const {
  static const std::string none;
  return contains(id) ? pieces_[static_cast<std::size_t>(id)] : none;
}

TokenId Vocabulary::find(std::string_view piece) const {
  const auto found = index_.find(piece);
  return found == index_.end() ? -1 : found->second;
}

void Vocabulary::set_special(TokenId id, bool special) {
  if (contains(id)) special_[static_cast<std::size_t>(id)] = special;
}

bool VocabularyTokenizer::adds_bos() const {
  return special_.bos >= 0 && !special_.before.empty() && special_.before.front() == special_.bos;
}

int byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || piece.substr(0, 3) != "<0x" || piece[5] != '>') return -1;
  int value = 0;
  for (const char c : piece.substr(3, 2)) {
    if (c >= '0' && c <= '9') {
      value = value * 16 + (c - '0');
    } else if (c >= 'A' && c <= 'F') {
      value = value * 16 + (c - 'A' + 10);
    } else {
      return -1;
    }
  }
  return value;
}

}  // namespace lorikeet
