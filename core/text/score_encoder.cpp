// SPDX-License-Identifier: Apache-2.0
#include "core/text/score_encoder.h"

#include <algorithm>
#include <array>
#include <queue>
#include <unordered_map>

#include "core/text/space_mark.h"
#include "core/text/unicode.h"

namespace lorikeet {
namespace {

struct Symbol {
  std::size_t begin, bytes;  ///< of the word; 0 bytes: merged away
  std::int32_t previous, next;
};

struct Candidate {
  float score;
  std::int32_t left, right;
  std::size_t bytes;
  bool operator<(const Candidate& other) const {  // the queue gives the greatest
    return score != other.score ? score < other.score : left > other.left;
  }
};

class ScoreEncoder : public PieceEncoder {
 public:
  ScoreEncoder(std::vector<ScoredPiece> pieces, TokenId unk) : pieces_(std::move(pieces)), unk_(unk) {
    byte_ids_.fill(-1);
    index_.reserve(pieces_.size());
    bool crosses = false;
    for (std::size_t id = 0; id < pieces_.size(); ++id) {
      const ScoredPiece& piece = pieces_[id];
      if (piece.type == PieceType::byte) {
        if (const int byte = byte_of_piece(piece.text); byte >= 0) byte_ids_[byte] = static_cast<TokenId>(id);
      } else if (piece.type == PieceType::normal || piece.type == PieceType::unused) {
        if (piece.text.empty()) continue;
        index_.emplace(piece.text, static_cast<TokenId>(id));
        crosses = crosses || next_space_edge(piece.text, 0) < piece.text.size();
      }
    }
    spells_bytes_ = std::all_of(byte_ids_.begin(), byte_ids_.end(), [](TokenId id) { return id >= 0; });
    may_cut_ = !crosses && index_.count(kSpaceMark) > 0;
  }

  void encode(std::string_view text, bool dummy_prefix, std::vector<TokenId>& ids) const override {
    const std::string marked = with_space_marks(text, dummy_prefix);
    const std::string_view all = marked;
    Work work;
    for (std::size_t begin = 0; begin < all.size();) {
      const std::size_t end = may_cut_ ? next_space_edge(all, begin + 1) : all.size();
      encode_word(all.substr(begin, end - begin), work, ids);
      begin = end;
    }
  }

 private:
  struct Work {
    std::vector<Symbol> symbols;
    std::priority_queue<Candidate> queue;
    std::unordered_map<std::string_view, std::size_t>
        parts;  ///< unused piece of the word to bytes of its left part
    bool after_unk = false;
  };

  TokenId find(std::string_view piece) const {
    const auto found = index_.find(piece);
    return found == index_.end() ? -1 : found->second;
  }

  const ScoredPiece& piece(TokenId id) const { return pieces_[static_cast<std::size_t>(id)]; }

  void offer(std::string_view word, Work& work, std::int32_t left, std::int32_t right) const {
    if (left < 0 || right < 0) return;
    const Symbol& a = work.symbols[static_cast<std::size_t>(left)];
    const std::size_t bytes = a.bytes + work.symbols[static_cast<std::size_t>(right)].bytes;
    const std::string_view joined = word.substr(a.begin, bytes);
    const TokenId id = find(joined);
    if (id < 0) return;
    work.queue.push({piece(id).score, left, right, bytes});
    if (piece(id).type == PieceType::unused) work.parts[joined] = a.bytes;
  }

  void encode_word(std::string_view word, Work& work, std::vector<TokenId>& ids) const {
    auto& symbols = work.symbols;
    symbols.clear();
    work.parts.clear();
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t bytes = utf8_at(word, at).bytes;
      const auto index = static_cast<std::int32_t>(symbols.size());
      symbols.push_back({at, bytes, index - 1, at + bytes < word.size() ? index + 1 : -1});
      at += bytes;
    }
    for (std::size_t i = 1; i < symbols.size(); ++i) {
      offer(word, work, static_cast<std::int32_t>(i - 1), static_cast<std::int32_t>(i));
    }
    while (!work.queue.empty()) {
      const Candidate best = work.queue.top();
      work.queue.pop();
      Symbol& left = symbols[static_cast<std::size_t>(best.left)];
      Symbol& right = symbols[static_cast<std::size_t>(best.right)];
      if (left.bytes == 0 || right.bytes == 0 || left.bytes + right.bytes != best.bytes) continue;
      left.bytes = best.bytes;
      left.next = right.next;
      right.bytes = 0;
      if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = best.left;
      offer(word, work, left.previous, best.left);
      offer(word, work, best.left, left.next);
    }
    for (std::int32_t i = symbols.empty() ? -1 : 0; i >= 0; i = symbols[static_cast<std::size_t>(i)].next) {
      const Symbol& symbol = symbols[static_cast<std::size_t>(i)];
      put(word.substr(symbol.begin, symbol.bytes), work, ids);
    }
  }

  void put(std::string_view text, Work& work, std::vector<TokenId>& ids) const {
    const TokenId id = find(text);
    if (id >= 0) {
      const auto part = work.parts.find(text);
      if (piece(id).type == PieceType::unused && part != work.parts.end()) {
        const std::size_t left = part->second;  // both are shorter, so this ends
        put(text.substr(0, left), work, ids);
        put(text.substr(left), work, ids);
        return;
      }
      ids.push_back(id);
    } else if (spells_bytes_) {
      for (const char byte : text) ids.push_back(byte_ids_[static_cast<unsigned char>(byte)]);
    } else if (unk_ >= 0 && !work.after_unk) {
      ids.push_back(unk_);
    }
    work.after_unk = id < 0;
  }

  std::vector<ScoredPiece> pieces_;
  std::unordered_map<std::string_view, TokenId> index_;  ///< of the pieces that merges can make
  std::array<TokenId, 256> byte_ids_{};
  TokenId unk_;
  bool spells_bytes_ = false;
  bool may_cut_ = false;
};

}  // namespace

std::unique_ptr<PieceEncoder> make_score_encoder(std::vector<ScoredPiece> pieces, TokenId unk) {
  return std::make_unique<ScoreEncoder>(std::move(pieces), unk);
}

}  // namespace lorikeet
