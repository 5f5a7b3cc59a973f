// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/data/known_columns.h"
#include "core/data/record.h"

namespace lorikeet {

/// A data file of any format, opened.
class RecordFile {
 public:
  /// `choice` names the columns that a person chose, so that a format with columns apart reads them. Throws
  /// Error naming the path.
  RecordFile(const std::string& path, const ColumnChoice& choice, std::stop_token stop);
  ~RecordFile();

  bool next(DataRecord& record) { return records_->next(record); }
  std::string format() const { return records_->format(); }
  std::vector<std::string> warnings() const;
  bool is_empty() const { return is_empty_; }
  /// Bytes and SHA-256 of the file as it lies on the disk; reads what is left of it. Call once.
  std::uint64_t finish(std::string& sha256);

 private:
  std::unique_ptr<FileBytes> bytes_;  ///< of a format that is not read from front to end
  std::unique_ptr<TextSource> text_;  ///< of a text
  std::unique_ptr<RecordSource> records_;
  bool is_empty_ = false;
};

}  // namespace lorikeet
