// SPDX-License-Identifier: Apache-2.0
#include "core/text/bpe.h"

#include <algorithm>
#include <bit>
#include <queue>

#include "core/base/utf8.h"
#include "core/text/byte_level.h"
#include "core/text/space_mark.h"
#include "core/text/unicode.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::size_t kShortWord = 48;
constexpr std::uint32_t kNoRank = UINT32_MAX;

std::uint64_t pair_key(TokenId left, TokenId right) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(left)) << 32 |
         static_cast<std::uint32_t>(right);
}

std::size_t slot_of(std::uint64_t key, int shift) {
  return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> shift);
}

}  // namespace

Bpe::Bpe(const Vocabulary& vocabulary, const BpeSettings& settings, const std::string& where)
    : vocabulary_(vocabulary),
      fuse_unk_(settings.fuse_unk),
      byte_fallback_(settings.byte_fallback && !settings.byte_level),
      ignore_merges_(settings.ignore_merges),
      byte_level_(settings.byte_level) {
  if (!settings.unk_token.empty()) {
    unk_ = vocabulary.find(settings.unk_token);
    if (unk_ < 0) throw Error(ErrorCode::bad_format, "The vocabulary lacks its unk_token", where);
  }
  find_first_ids();
  add_merges(settings, where);
}

void Bpe::find_first_ids() {
  byte_ids_.fill(-1);
  for (unsigned byte = 0; byte < 256; ++byte) {
    constexpr const char* digits = "0123456789ABCDEF";
    std::string piece;
    if (byte_level_) {
      append_utf8(piece, byte_level_char(static_cast<unsigned char>(byte)));
    } else if (byte_fallback_) {
      piece = std::string("<0x") + digits[byte >> 4] + digits[byte & 15] + ">";
    }
    byte_ids_[byte] = vocabulary_.find(piece);
  }
  if (!byte_level_ || !ignore_merges_) return;
  for (TokenId id = 0; id < vocabulary_.size(); ++id) {
    if (vocabulary_.is_special(id)) continue;
    if (auto bytes = byte_level_bytes(vocabulary_.piece(id)); bytes && !bytes->empty()) {
      whole_words_.emplace(std::move(*bytes), id);
    }
  }
}

void Bpe::add_merges(const BpeSettings& settings, const std::string& where) {
  const std::size_t slots = std::bit_ceil(std::max<std::size_t>(settings.merges.size() * 3 / 2, 16));
  shift_ = 64 - std::countr_zero(slots);
  merges_.assign(slots, {0, kNoRank, -1});
  cuts_at_spaces_ = !byte_level_ && !ignore_merges_ && vocabulary_.find(kSpaceMark) >= 0;
  std::string joined;
  for (std::size_t rank = 0; rank < settings.merges.size(); ++rank) {
    const auto& [left, right] = settings.merges[rank];
    joined.assign(left).append(right);
    const TokenId a = vocabulary_.find(left), b = vocabulary_.find(right), made = vocabulary_.find(joined);
    if (a < 0 || b < 0 || made < 0) {
      throw Error(ErrorCode::bad_format,
                  "Merge " + std::to_string(rank) + " uses a piece that the vocabulary lacks", where);
    }
    if (vocabulary_.is_special(made)) continue;
    if (cuts_at_spaces_ && next_space_edge(joined, 0) < joined.size()) cuts_at_spaces_ = false;
    const std::uint64_t key = pair_key(a, b);
    std::size_t slot = slot_of(key, shift_);
    while (merges_[slot].rank != kNoRank && merges_[slot].pair != key) slot = (slot + 1) & (slots - 1);
    merges_[slot] = {key, static_cast<std::uint32_t>(rank), made};
  }
}

const Bpe::Merge* Bpe::merge_of(TokenId left, TokenId right) const {
  const std::uint64_t key = pair_key(left, right);
  for (std::size_t slot = slot_of(key, shift_);; slot = (slot + 1) & (merges_.size() - 1)) {
    const Merge& merge = merges_[slot];
    if (merge.rank == kNoRank) return nullptr;
    if (merge.pair == key) return &merge;
  }
}

void Bpe::encode(std::string_view piece, std::vector<TokenId>& out) const {
  if (!cuts_at_spaces_) return encode_word(piece, out);
  for (std::size_t begin = 0; begin < piece.size();) {
    const std::size_t end = next_space_edge(piece, begin + 1);
    encode_word(piece.substr(begin, end - begin), out);
    begin = end;
  }
}

void Bpe::encode_word(std::string_view word, std::vector<TokenId>& out) const {
  if (ignore_merges_) {
    TokenId whole = -1;
    if (!byte_level_) {
      whole = vocabulary_.find(word);
    } else if (const auto found = whole_words_.find(std::string(word)); found != whole_words_.end()) {
      whole = found->second;
    }
    if (whole >= 0 && !vocabulary_.is_special(whole)) {
      out.push_back(whole);
      return;
    }
  }
  const std::size_t first = out.size();
  start_word(word, out);
  if (out.size() - first <= kShortWord) {
    merge_short(out, first);
  } else {
    merge_long(out, first);
  }
}

void Bpe::start_word(std::string_view word, std::vector<TokenId>& ids) const {
  bool after_unk = false;
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t bytes = byte_level_ ? 1 : utf8_at(word, at).bytes;
    const std::string_view c = word.substr(at, bytes);
    at += bytes;
    const auto byte_id = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
    TokenId id = byte_level_ ? byte_id(c[0]) : vocabulary_.find(c);
    if (id >= 0) {
      ids.push_back(id);
    } else if (byte_fallback_ &&
               std::all_of(c.begin(), c.end(), [&](char byte) { return byte_id(byte) >= 0; })) {
      for (const char byte : c) ids.push_back(byte_id(byte));
      id = 0;
    } else if (unk_ >= 0 && !(fuse_unk_ && after_unk)) {
      ids.push_back(unk_);
    }
    after_unk = id < 0;
  }
}

/// Looks for the lowest rank from the left each time: few symbols, so faster than a queue.
void Bpe::merge_short(std::vector<TokenId>& ids, std::size_t first) const {
  std::size_t count = ids.size() - first;
  if (count < 2) return;
  TokenId* id = ids.data() + first;
  std::uint32_t rank[kShortWord];
  TokenId made[kShortWord];
  const auto look_up = [&](std::size_t i) {
    const Merge* merge = merge_of(id[i], id[i + 1]);
    rank[i] = merge ? merge->rank : kNoRank;
    made[i] = merge ? merge->made : -1;
  };
  for (std::size_t i = 0; i + 1 < count; ++i) look_up(i);
  while (count > 1) {
    const std::size_t best = static_cast<std::size_t>(std::min_element(rank, rank + count - 1) - rank);
    if (rank[best] == kNoRank) break;
    id[best] = made[best];
    --count;
    for (std::size_t i = best + 1; i < count; ++i) id[i] = id[i + 1];
    for (std::size_t i = best + 1; i + 1 < count; ++i) {
      rank[i] = rank[i + 1];
      made[i] = made[i + 1];
    }
    if (best + 1 < count) look_up(best);
    if (best > 0) look_up(best - 1);
  }
  ids.resize(first + count);
}

/// The same by a queue over a linked list: n log n for words of any length.
void Bpe::merge_long(std::vector<TokenId>& ids, std::size_t first) const {
  struct Symbol {
    TokenId id;
    std::int64_t previous, next;
  };
  struct Candidate {
    std::uint32_t rank;
    std::int64_t at;
    TokenId left, right, made;
    bool operator<(const Candidate& other) const {  // the queue gives the greatest
      return rank != other.rank ? rank > other.rank : at > other.at;
    }
  };
  const auto count = static_cast<std::int64_t>(ids.size() - first);
  std::vector<Symbol> symbols(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)] = {ids[first + static_cast<std::size_t>(i)], i - 1,
                                            i + 1 < count ? i + 1 : -1};
  }
  std::priority_queue<Candidate> queue;
  const auto symbol = [&](std::int64_t i) -> Symbol& { return symbols[static_cast<std::size_t>(i)]; };
  const auto offer = [&](std::int64_t at) {
    if (at < 0 || symbol(at).next < 0) return;
    const TokenId left = symbol(at).id, right = symbol(symbol(at).next).id;
    if (const Merge* merge = merge_of(left, right)) queue.push({merge->rank, at, left, right, merge->made});
  };
  for (std::int64_t i = 0; i + 1 < count; ++i) offer(i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol& left = symbol(best.at);
    if (left.id != best.left || left.next < 0 || symbol(left.next).id != best.right) continue;
    const std::int64_t gone = left.next;
    left.id = best.made;
    left.next = symbol(gone).next;
    symbol(gone).id = -1;
    if (left.next >= 0) symbol(left.next).previous = best.at;
    offer(left.previous);
    offer(best.at);
  }
  ids.resize(first);
  for (std::int64_t i = 0; i >= 0; i = symbol(i).next) ids.push_back(symbol(i).id);
}

}  // namespace lorikeet
