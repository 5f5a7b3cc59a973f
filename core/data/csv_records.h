// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/record.h"

namespace lorikeet {

/// The fields of one line of a table (RFC 4180 with any delimiter; CRLF, LF and lone CR end a line).
class CsvLine {
 public:
  struct Field {
    std::string_view text;  ///< without its quotes
    bool doubled = false;   ///< holds doubled quotes, each of which stands for one
  };
  enum class End : std::uint8_t {
    complete,
    incomplete,  ///< the text ends before the line does
    unclosed,    ///< the same, inside quotes
  };

  /// Splits the line at the start of `text`; `final`: the text ends where the file ends.
  End split(std::string_view text, char delimiter, bool final);
  const std::vector<Field>& fields() const { return fields_; }
  /// Bytes of the line with its end.
  std::size_t size() const { return size_; }
  /// "" or what is wrong inside the line.
  const std::string& problem() const { return problem_; }

 private:
  bool split_quoted(std::string_view text, std::size_t& i, bool final);

  std::vector<Field> fields_;
  std::size_t size_ = 0;
  std::string problem_;
};

/// The delimiter of a table that begins with `text`; nothing when it does not look like a table. A name that
/// promises one lets any header pass, otherwise two known column names must stand in it.
std::optional<char> find_delimiter(std::string_view text, bool final, bool named_as_table);

/// Rows of a table with a header. Ragged rows and unclosed quotes are refused one by one.
class CsvRecords final : public RecordSource {
 public:
  CsvRecords(TextSource& source, char delimiter) : source_(source), delimiter_(delimiter) {}

  bool next(DataRecord& record) override;
  std::string format() const override;
  std::vector<std::string> warnings() const override { return warnings_; }

 private:
  bool skip_blank_lines();
  std::string read_line();
  void skip_one_line();
  void read_header();
  void decode(DataRecord& record);
  std::string count_problem() const;

  TextSource& source_;
  char delimiter_;
  CsvLine line_;
  std::size_t pending_ = 0;  ///< bytes of the line last handed out, to be consumed
  std::int64_t records_ = 0;
  int unclosed_ = 0;
  bool header_read_ = false;
  std::vector<std::string> header_;
  std::string decoded_;  ///< fields that held doubled quotes
  std::vector<std::string> warnings_;
};

}  // namespace lorikeet
