// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/data/column_map.h"
#include "core/data/dataset.h"
#include "core/data/messages.h"
#include "core/data/record.h"

namespace lorikeet {

/// Findings that do not refuse a row: each sentence with how many rows it holds for and the first of them.
class RowNotes {
 public:
  void add(const char* sentence, std::int64_t row);
  std::vector<std::string> texts() const;

 private:
  struct Count {
    std::int64_t rows = 0;
    std::vector<std::int64_t> first;
  };
  std::map<const char*, Count> counts_;
};

/// Turns the columns of a record into a row, record by record: types are those of the row, never of a column.
class RowShaper {
 public:
  RowShaper(const ReadOptions& options, DataReport& report);

  /// Why the record cannot be used, or "" with `row` filled in.
  std::string shape(const DataRecord& record, InstructionRow& row);

  const ColumnMap& columns() const { return columns_; }
  RowNotes& notes() { return notes_; }
  /// What the rows are, for example "Alpaca" or "ShareGPT", and how sure that is.
  std::string shape_name() const;
  std::string confidence() const;

 private:
  std::string shape_pair(const ColumnMap::Found& found, InstructionRow& row);
  std::string shape_conversation(const JsonMember& messages, const ColumnMap::Found& found,
                                 InstructionRow& row);
  std::string shape_message_pair(const JsonSlice& prompt, const JsonMember& answer, InstructionRow& row);
  std::string shape_text(const JsonMember& text, InstructionRow& row);
  std::string finish_conversation(InstructionRow& row);
  std::string empty_answer(const std::string& text, std::int64_t row);
  std::string take(const JsonMember* member, ColumnRole role, std::int64_t row, std::string& text);
  std::string missing(ColumnRole role) const;

  const ReadOptions& options_;
  DataReport& report_;
  ColumnMap columns_;
  RowNotes notes_;
  bool from_value_ = false;
  std::array<std::int64_t, 3> rows_of_kind_{};
};

}  // namespace lorikeet
