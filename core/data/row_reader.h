// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/data/parent_links.h"
#include "core/data/record_file.h"
#include "core/data/row_shaper.h"
#include "core/data/seen_rows.h"

namespace lorikeet {

/// Reads a data set row by row and keeps the report; memory does not grow with the file.
class RowReader {
 public:
  /// Opens the file and finds its format. Throws Error.
  RowReader(const std::string& path, const ReadOptions& options, std::stop_token stop,
            const RowsRead& progress);

  /// The next usable row; those that are not are listed in the report. False at the end, or where nothing in
  /// the file can be used at all.
  bool next(InstructionRow& row);
  /// Completes the report behind the last row, with the bytes and hash of the file. Throws
  /// Error(bad_format) when no row could be used, saying why and what was expected.
  void finish(DataReport& report, std::string& sha256);
  /// Which column was read as what, for example {"instruction", "question"}.
  std::vector<std::pair<std::string, std::string>> roles() const;

 private:
  bool hopeless() const;

  std::string path_;
  ReadOptions options_;
  std::stop_token stop_;
  RowsRead progress_;
  DataReport report_;
  RecordFile file_;
  RowShaper shaper_;
  SeenRows seen_;
  ParentLinks parents_;
  DataRecord record_;
  bool saw_record_ = false;  ///< one that could be taken apart
};

}  // namespace lorikeet
