// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <utility>

#include "core/base/utf8.h"
#include "core/data/column_map.h"
#include "core/data/dataset.h"
#include "core/data/json_records.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// A file that is no JSON at all is given up after this many records without one that is.
constexpr std::int64_t hopeless_records = 1000;
constexpr std::int64_t rows_between_reports = 4096;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

/// Turns records into rows and keeps the report.
class RowCollector {
 public:
  explicit RowCollector(InstructionData& data) : data_(data) {}

  void add(const JsonRecord& record) {
    ++data_.report.read;
    saw_json_ |= record.problem.empty();
    const std::string reason = use(record);
    if (reason.empty()) return;
    ++data_.report.refused_rows;
    if (data_.report.refused.size() < max_listed_rows)
      data_.report.refused.push_back({record.number, reason});
  }
  bool hopeless() const { return !saw_json_ && data_.report.read >= hopeless_records; }
  const ColumnMap& columns() const { return columns_; }

 private:
  std::string use(const JsonRecord& record);
  std::string take(const JsonMember* member, const char* name, bool list_is_empty, std::string& text) const;
  void count_duplicate();

  InstructionData& data_;
  ColumnMap columns_;
  bool saw_json_ = false;
  std::unordered_map<std::size_t, std::size_t> first_with_hash_;  ///< index of the first row with this hash
};

std::string kind_name(JsonKind kind) {
  switch (kind) {
    case JsonKind::string:
      return "a text";
    case JsonKind::number:
      return "a number";
    case JsonKind::boolean:
      return "true or false";
    case JsonKind::null:
      return "null";
    case JsonKind::array:
      return "a list";
    case JsonKind::object:
      return "an object";
  }
  return "";
}

/// Puts the text of one column into `text`; returns why the row cannot be used, or "".
std::string RowCollector::take(const JsonMember* member, const char* name, bool list_is_empty,
                               std::string& text) const {
  text.clear();
  if (!member || member->value.kind == JsonKind::null) return {};
  const JsonSlice& value = member->value;
  if (value.kind == JsonKind::array || value.kind == JsonKind::object) {
    if (list_is_empty && value.empty) return {};
    return std::string("The ") + name + " is " + kind_name(value.kind) + ", not text (column \"" +
           std::string(member->key) + "\")";
  }
  if (!value.escaped) {
    text = value.text;
  } else if (!decode_json_string(value.text, text)) {
    return std::string("The ") + name + " holds half of a surrogate pair, which is no character";
  }
  return {};
}

std::string RowCollector::use(const JsonRecord& record) {
  if (!record.problem.empty()) return record.problem;
  if (const std::size_t valid = valid_utf8_prefix(record.text); valid < record.text.size()) {
    return "Not valid UTF-8 at byte " + std::to_string(record.offset + valid);
  }
  if (record.kind != JsonKind::object)
    return "The row is " + kind_name(record.kind) + ", not an object with columns";
  const ColumnMap::Found found = columns_.find(record.members);
  const auto [instruction, input, output] = found;
  InstructionRow row;
  row.number = record.number;
  if (std::string reason = take(instruction, "instruction", false, row.instruction); !reason.empty())
    return reason;
  if (std::string reason = take(input, "input", true, row.input); !reason.empty()) return reason;
  if (std::string reason = take(output, "answer", false, row.output); !reason.empty()) return reason;
  if (!instruction) return "The instruction is missing (no column \"instruction\")";
  if (is_blank(row.instruction) && is_blank(row.input)) return "The instruction is empty";
  if (!output) return "The answer is missing (no column \"output\")";
  if (is_blank(row.output)) {
    ++data_.report.empty_answers;
    return row.output.empty() ? "The answer is empty" : "The answer is only white space";
  }
  data_.rows.push_back(std::move(row));
  ++data_.report.used;
  count_duplicate();
  return {};
}

void RowCollector::count_duplicate() {
  const InstructionRow& row = data_.rows.back();
  const std::hash<std::string_view> hash;
  constexpr std::size_t odd = 0x9E3779B97F4A7C15u;
  const std::size_t key = (hash(row.instruction) * odd + hash(row.input)) * odd + hash(row.output);
  const auto [first, is_new] = first_with_hash_.emplace(key, data_.rows.size() - 1);
  if (is_new) return;
  const InstructionRow& other = data_.rows[first->second];
  if (row.instruction == other.instruction && row.input == other.input && row.output == other.output) {
    ++data_.report.duplicates;
  }
}

std::string list_names(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 20; ++i)
    text += (i > 0 ? ", " : "") + names[i].substr(0, 60);
  return names.size() > 20 ? text + ", ..." : text;
}

bool has(const std::vector<std::string>& names, const char* name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Why a file without a usable row has none, and what was expected.
Error no_usable_row(const InstructionData& data, int first_byte) {
  const DataReport& report = data.report;
  const std::string expected =
      "Expected rows with the columns instruction, input (may be missing) and output, as a JSON list or one "
      "a line";
  std::string noted;
  for (const std::string& warning : report.warnings) noted += ". " + warning;
  if (first_byte < 0) return Error(ErrorCode::bad_format, "The file is empty" + noted, data.path, expected);
  if (report.read == 0)
    return Error(ErrorCode::bad_format, "The file holds no rows" + noted, data.path, expected);
  std::string what = "No row can be used, " + std::to_string(report.read) + " read";
  if (report.empty_answers > 0) what += ", " + std::to_string(report.empty_answers) + " with an empty answer";
  const RefusedRow& first = report.refused.front();
  what += "; row " + std::to_string(first.number) + ": " + first.reason;
  std::string hint = expected;
  what += noted;
  if (!report.columns.empty()) hint = "Columns found: " + list_names(report.columns) + ". " + expected;
  if (has(report.columns, "conversations") || has(report.columns, "messages")) {
    hint += ". Rows of conversations cannot be read yet";
  }
  return Error(ErrorCode::bad_format, what, data.path, hint);
}

}  // namespace

InstructionData read_instruction_data(const std::string& path, std::stop_token stop,
                                      const RowsRead& progress) {
  InstructionData data;
  data.path = path;
  TextSource source(path, stop);
  const int first_byte = source.view().empty() ? -1 : static_cast<unsigned char>(source.view().front());
  JsonRecords records(source);
  RowCollector collector(data);
  JsonRecord record;
  while (!collector.hopeless() && records.next(record)) {
    collector.add(record);
    if (data.report.read % rows_between_reports != 0) continue;
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "Reading was stopped", path);
    if (progress) progress(data.report.read);
  }
  DataReport& report = data.report;
  report.format = records.in_list() ? "Alpaca JSON" : "Alpaca JSONL";
  report.columns = collector.columns().columns();
  report.warnings = records.warnings();
  for (std::string& warning : source.warnings()) report.warnings.push_back(std::move(warning));
  for (std::string& warning : collector.columns().warnings()) report.warnings.push_back(std::move(warning));
  if (report.used == 0) throw no_usable_row(data, first_byte);
  report.bytes = static_cast<std::int64_t>(source.finish(data.sha256));
  if (progress) progress(report.read);
  return data;
}

}  // namespace lorikeet
