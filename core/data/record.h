// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/json_scan.h"
#include "core/data/text_source.h"

namespace lorikeet {

/// A row is at most this long in every format.
inline constexpr std::size_t max_record_bytes = std::size_t{64} << 20;

/// One record of a file, good or bad.
struct DataRecord {
  std::int64_t number = 0;           ///< 1-based
  std::uint64_t offset = 0;          ///< of its first byte in the file
  std::string problem;               ///< why it cannot be taken apart, "" when it can
  JsonKind kind = JsonKind::object;  ///< of the value
  std::vector<JsonMember> members;   ///< of an object
  std::string_view text;  ///< the whole record as written; like `members` valid until the next record
};

/// Hands out the records of a file one after the other, whatever its format. Each record of the file comes
/// once, the broken ones with their problem.
class RecordSource {
 public:
  RecordSource() = default;
  RecordSource(const RecordSource&) = delete;
  RecordSource& operator=(const RecordSource&) = delete;
  virtual ~RecordSource() = default;

  /// False at the end of the file. Throws Error(io | cancelled).
  virtual bool next(DataRecord& record) = 0;
  /// "JSON", "JSONL", "CSV", ... as far as is known from what was read.
  virtual std::string format() const = 0;
  /// Things a person should know, each once.
  virtual std::vector<std::string> warnings() const = 0;
};

/// The records of a text file: what it is, is seen from its contents first and from its name second (JSON
/// with any name; tables with known column names, or named .csv, .tsv or .tab; plain text where the name does
/// not promise JSON). Throws Error(bad_format) for what is no text at all. `source` must outlive them.
std::unique_ptr<RecordSource> open_text_records(TextSource& source, const std::string& path);

}  // namespace lorikeet
