// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/data/parquet/column.h"
#include "core/data/parquet/metadata.h"
#include "core/data/record.h"

namespace lorikeet::parquet {

/// Rows of a Parquet file: plain and dictionary encodings, pages of version 1 and 2, uncompressed or by
/// snappy, gzip or zstd, columns of any nesting (lists and structures become JSON text). Only columns that
/// can be of use are read, the others are named with null. Every length in the file is checked before it is
/// used.
class ParquetRecords final : public RecordSource {
 public:
  /// `wanted` says by its name whether a top-level column is of use. Throws Error naming the path.
  ParquetRecords(const std::string& path, std::stop_token stop,
                 const std::function<bool(const std::string& name)>& wanted);

  /// Throws Error(bad_format | unsupported | cancelled), naming column and row group of what cannot be read.
  bool next(DataRecord& record) override;
  std::string format() const override { return "Parquet"; }
  std::vector<std::string> warnings() const override { return {}; }

 private:
  bool begin_group();
  void finish_group();
  void read_member(const Node& node, std::string& text, DataRecord& record);
  Column& entry_of(const Node& node);
  void write_field(const Node& node, std::string& out);
  void write_value(const Node& node, std::string& out);
  void write_list(const Node& repeated, bool whole, std::string& out);
  void skip(const Node& node);
  JsonKind take_scalar(const Node& node, std::string& text);
  void check_expansion(const DataRecord& record);

  std::string path_;
  std::stop_token stop_;
  MappedFile file_;
  Metadata metadata_;
  std::vector<bool> wanted_;  ///< of the top-level columns
  bool any_wanted_ = false;
  std::vector<std::unique_ptr<Column>> columns_;  ///< by leaf, of this row group; nullptr where not wanted
  std::vector<std::string> texts_;                ///< of this record, by top-level column
  std::size_t group_ = 0;                         ///< row groups begun
  std::int64_t rows_left_ = 0;                    ///< in this row group
  std::int64_t records_ = 0;
  std::string column_name_;  ///< being read, for errors
  std::uint64_t expanded_ = 0;
};

}  // namespace lorikeet::parquet
