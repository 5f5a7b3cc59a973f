// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "core/data/dataset.h"
#include "core/data/row_reader.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// A file that is nothing of what it seems to be is given up after this many records without a good one.
constexpr std::int64_t hopeless_records = 1000;
constexpr std::int64_t rows_between_reports = 4096;

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 20; ++i)
    text += (i > 0 ? ", " : "") + names[i].substr(0, 60);
  return names.size() > 20 ? text + ", ..." : text;
}

/// Why a file without a usable row has none, and what was expected.
Error no_usable_row(const DataReport& report, const std::string& path, bool is_empty) {
  const std::string expected =
      "Expected rows with the columns instruction, input (may be missing) and output, or a list of turns "
      "named messages or conversations, or a text; other names can be given with the setting columns";
  std::string noted;
  for (const std::string& warning : report.warnings) noted += ". " + warning;
  if (is_empty) return Error(ErrorCode::bad_format, "The file is empty" + noted, path, expected);
  if (report.read == 0) return Error(ErrorCode::bad_format, "The file holds no rows" + noted, path, expected);
  std::string what = "No row can be used, " + std::to_string(report.read) + " read";
  if (report.empty_answers > 0) what += ", " + std::to_string(report.empty_answers) + " with an empty answer";
  const RefusedRow& first = report.refused.front();
  what += "; row " + std::to_string(first.number) + ": " + first.reason + noted;
  std::string hint = expected;
  if (!report.columns.empty()) hint = "Columns found: " + list_names(report.columns) + ". " + expected;
  return Error(ErrorCode::bad_format, what, path, hint);
}

}  // namespace

RowReader::RowReader(const std::string& path, const ReadOptions& options, std::stop_token stop,
                     const RowsRead& progress)
    : path_(path),
      options_(options),
      stop_(std::move(stop)),
      progress_(progress),
      file_(path, parse_columns(options.columns), stop_),
      shaper_(options_, report_) {}

bool RowReader::hopeless() const {
  return !saw_record_ && report_.read >= hopeless_records;
}

bool RowReader::next(InstructionRow& row) {
  while (!hopeless() && file_.next(record_)) {
    ++report_.read;
    saw_record_ |= record_.problem.empty();
    parents_.add(record_.number, record_.members);
    std::string reason = shaper_.shape(record_, row);
    if (reason.empty() && seen_.add(row)) {
      ++report_.duplicates;
      if (options_.duplicates == Duplicates::drop)
        reason = "Equal to an earlier row";
      else
        shaper_.notes().add("The row is equal to an earlier one", row.number);
    }
    if (report_.read % rows_between_reports == 0) {
      if (stop_.stop_requested()) throw Error(ErrorCode::cancelled, "Reading was stopped", path_);
      if (progress_) progress_(report_.read);
    }
    if (reason.empty()) {
      ++report_.used;
      return true;
    }
    ++report_.refused_rows;
    if (report_.refused.size() < max_listed_rows)
      report_.refused.push_back({record_.number, std::move(reason)});
  }
  return false;
}

void RowReader::finish(DataReport& report, std::string& sha256) {
  report_.shape = shaper_.shape_name();
  report_.confidence = shaper_.confidence();
  report_.format = report_.shape + " " + file_.format();
  if (report_.shape == "Text" && file_.format() == "Plain text") report_.format = "Plain text";
  report_.columns = shaper_.columns().columns();
  report_.warnings = file_.warnings();
  for (std::string& warning : shaper_.columns().warnings()) report_.warnings.push_back(std::move(warning));
  for (std::string& note : shaper_.notes().texts()) report_.warnings.push_back(std::move(note));
  for (std::string& warning : parents_.warnings()) report_.warnings.push_back(std::move(warning));
  if (seen_.is_full())
    report_.warnings.push_back("Equal rows were looked for among the first " +
                               std::to_string(SeenRows::max_rows));
  if (report_.used == 0) throw no_usable_row(report_, path_, file_.is_empty());
  report_.bytes = static_cast<std::int64_t>(file_.finish(sha256));
  if (progress_) progress_(report_.read);
  report = report_;
}

std::vector<std::pair<std::string, std::string>> RowReader::roles() const {
  std::vector<std::pair<std::string, std::string>> roles;
  for (std::size_t i = 0; i < column_roles; ++i) {
    const auto role = static_cast<ColumnRole>(i);
    if (std::string name = shaper_.columns().name_of(role); !name.empty())
      roles.emplace_back(role_name(role), std::move(name));
  }
  return roles;
}

InstructionData read_instruction_data(const std::string& path, std::stop_token stop, const RowsRead& progress,
                                      const ReadOptions& options) {
  InstructionData data;
  data.path = path;
  RowReader reader(path, options, std::move(stop), progress);
  InstructionRow row;
  while (reader.next(row)) {
    if (data.rows.size() < options.most_kept) data.rows.push_back(std::move(row));
  }
  reader.finish(data.report, data.sha256);
  return data;
}

}  // namespace lorikeet
