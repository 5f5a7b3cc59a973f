// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/files.h"
#include "core/base/hash.h"
#include "core/data/dataset.h"

namespace lorikeet {

/// A tokenised row in a store: its tokens lie in the file, so that rows take little memory.
struct StoredRow {
  std::int64_t number = 0;  ///< row in the data file
  std::uint64_t first = 0;  ///< of its ids among the tokens of the file; its targets follow them
  std::int64_t source = 0;  ///< index of the row it was made of among the usable ones
  std::uint32_t length = 0, trained = 0;
  std::uint32_t ends = 0;  ///< its last trained token ends an answer
  std::uint32_t unused = 0;
};

/// What is known of all rows together.
struct StoreSummary {
  std::int64_t sources = 0;           ///< usable rows of the data file
  std::vector<std::int64_t> lengths;  ///< tokens of each of them, before cutting
  std::string notes;                  ///< of whoever writes, for example a report as JSON
};

/// Writes a store row by row; nothing is there under its name before commit().
class TokenStoreWriter {
 public:
  /// `key` says what the tokens were made of (64 characters).
  TokenStoreWriter(const std::string& path, std::string_view key);
  void add(const TokenRow& row, std::int64_t source, bool ends);
  void commit(const StoreSummary& summary);

 private:
  void put(const void* data, std::size_t bytes);
  void flush();

  AtomicFile file_;
  Sha256 hash_;
  std::string buffer_;
  std::vector<StoredRow> rows_;
  std::uint64_t tokens_ = 0;
};

/// A store that was written whole. Its file may be removed while it is open.
class TokenStore {
 public:
  /// Nothing when there is no such file, or when it is damaged, cut, of another version or of another key:
  /// every byte is hashed and every number checked, ids against `vocab_size`.
  static std::shared_ptr<const TokenStore> open(const std::string& path, std::string_view key,
                                                std::int64_t vocab_size);

  std::span<const StoredRow> rows() const { return rows_; }
  const StoreSummary& summary() const { return summary_; }
  /// A row whose ids lie in this store.
  TokenRow row(const StoredRow& stored) const;

 private:
  bool parse(std::string_view key, std::int64_t vocab_size);
  bool ids_are_known(std::int64_t vocab_size) const;

  MappedFile file_;
  std::span<const TokenId> tokens_;
  std::span<const StoredRow> rows_;
  StoreSummary summary_;
};

}  // namespace lorikeet
