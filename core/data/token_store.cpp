// SPDX-License-Identifier: Apache-2.0
// Layout: magic, key | ids and targets of each row | StoredRow table | lengths | notes | counts | SHA-256 of
// all before.
#include "core/data/token_store.h"

#include <algorithm>
#include <cstring>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

static_assert(sizeof(TokenId) == 4 && sizeof(StoredRow) == 40);
constexpr std::string_view magic = "LKTOKEN1";
constexpr std::size_t key_bytes = 64, hash_bytes = 64, head_bytes = 8 + key_bytes;
constexpr std::size_t piece_bytes = std::size_t{16} << 20;
constexpr std::size_t buffer_bytes = std::size_t{1} << 20;

struct Counts {
  std::uint64_t tokens = 0, rows = 0, lengths = 0, notes = 0;
  std::int64_t sources = 0;
};

}  // namespace

TokenStoreWriter::TokenStoreWriter(const std::string& path, std::string_view key) : file_(path) {
  if (key.size() != key_bytes)
    throw Error(ErrorCode::invalid_argument, "The key of a token store is no SHA-256", path);
  put(magic.data(), magic.size());
  put(key.data(), key.size());
}

void TokenStoreWriter::put(const void* data, std::size_t bytes) {
  buffer_.append(static_cast<const char*>(data), bytes);
  if (buffer_.size() >= buffer_bytes) flush();
}

void TokenStoreWriter::flush() {
  hash_.update(buffer_.data(), buffer_.size());
  file_.write(buffer_);
  buffer_.clear();
}

void TokenStoreWriter::add(const TokenRow& row, std::int64_t source, bool ends) {
  const std::size_t length = row.ids.size();
  rows_.push_back({row.number, tokens_, source, static_cast<std::uint32_t>(length),
                   static_cast<std::uint32_t>(row.trained_tokens), ends ? 1u : 0u, 0});
  for (const TokenList* list : {&row.ids, &row.targets}) put(list->begin(), length * sizeof(TokenId));
  tokens_ += 2 * length;
}

void TokenStoreWriter::commit(const StoreSummary& summary) {
  put(rows_.data(), rows_.size() * sizeof(StoredRow));
  put(summary.lengths.data(), summary.lengths.size() * sizeof(std::int64_t));
  put(summary.notes.data(), summary.notes.size());
  const Counts counts{tokens_, rows_.size(), summary.lengths.size(), summary.notes.size(), summary.sources};
  put(&counts, sizeof counts);
  flush();
  file_.write(hash_.hex());
  file_.commit();
}

std::shared_ptr<const TokenStore> TokenStore::open(const std::string& path, std::string_view key,
                                                   std::int64_t vocab_size) {
  auto store = std::make_shared<TokenStore>();
  try {
    store->file_ = MappedFile(path);
  } catch (const Error&) {
    return nullptr;
  }
  return store->parse(key, vocab_size) ? store : nullptr;
}

bool TokenStore::parse(std::string_view key, std::int64_t vocab_size) {
  const std::string_view file = file_.text();
  if (file.size() < head_bytes + sizeof(Counts) + hash_bytes || !file.starts_with(magic)) return false;
  if (file.substr(magic.size(), key_bytes) != key) return false;
  const std::size_t counts_at = file.size() - hash_bytes - sizeof(Counts);
  Counts counts;
  std::memcpy(&counts, file.data() + counts_at, sizeof counts);
  const std::uint64_t most = file.size();
  if (counts.tokens > most / 4 || counts.rows > most || counts.lengths > most || counts.notes > most)
    return false;
  const std::uint64_t bytes =
      head_bytes + counts.tokens * 4 + counts.rows * sizeof(StoredRow) + counts.lengths * 8 + counts.notes;
  if (bytes != counts_at) return false;
  Sha256 hash;
  for (std::size_t at = 0; at < file.size() - hash_bytes; at += piece_bytes) {
    const std::size_t bytes_here = std::min(piece_bytes, file.size() - hash_bytes - at);
    hash.update(file.data() + at, bytes_here);
    file_.forget(at, bytes_here);  // so that a large file does not fill memory while it is looked through
  }
  if (hash.hex() != file.substr(file.size() - hash_bytes)) return false;
  const char* at = file.data() + head_bytes;
  tokens_ = {reinterpret_cast<const TokenId*>(at), static_cast<std::size_t>(counts.tokens)};
  at += counts.tokens * 4;
  rows_ = {reinterpret_cast<const StoredRow*>(at), static_cast<std::size_t>(counts.rows)};
  at += counts.rows * sizeof(StoredRow);
  summary_.lengths.resize(static_cast<std::size_t>(counts.lengths));
  std::memcpy(summary_.lengths.data(), at, summary_.lengths.size() * sizeof(std::int64_t));
  at += counts.lengths * 8;
  summary_.notes.assign(at, static_cast<std::size_t>(counts.notes));
  summary_.sources = counts.sources;
  const bool rows_fit = std::all_of(rows_.begin(), rows_.end(), [&](const StoredRow& row) {
    return row.first <= counts.tokens && row.length <= (counts.tokens - row.first) / 2 && row.source >= 0 &&
           row.source < counts.sources && row.trained <= row.length;
  });
  return rows_fit &&
         std::all_of(tokens_.begin(), tokens_.end(), [&](TokenId id) { return id >= -1 && id < vocab_size; });
}

bool TokenStore::ids_are_known(std::int64_t vocab_size) const {
  constexpr std::size_t piece_tokens = piece_bytes / sizeof(TokenId);
  for (std::size_t at = 0; at < tokens_.size(); at += piece_tokens) {
    const auto piece = tokens_.subspan(at, std::min(piece_tokens, tokens_.size() - at));
    if (!std::all_of(piece.begin(), piece.end(), [&](TokenId id) { return id >= -1 && id < vocab_size; }))
      return false;
    file_.forget(head_bytes + at * sizeof(TokenId), piece.size_bytes());
  }
  return true;
}

TokenRow TokenStore::row(const StoredRow& stored) const {
  TokenRow row;
  row.number = stored.number;
  const TokenId* ids = tokens_.data() + stored.first;
  row.ids = TokenList::borrowed(ids, stored.length);
  row.targets = TokenList::borrowed(ids + stored.length, stored.length);
  row.trained_tokens = stored.trained;
  return row;
}

}  // namespace lorikeet
