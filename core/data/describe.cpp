// SPDX-License-Identifier: Apache-2.0
#include "core/data/describe.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/data/row_reader.h"

namespace lorikeet {
namespace {

constexpr std::size_t most_reasons = 12, numbers_of_a_reason = 10;
constexpr std::size_t shown_columns = 20, shown_bytes = 160;

/// The beginning of a text, on one line, cut between characters.
std::string shown(const std::string& text) {
  std::size_t end = std::min(text.size(), shown_bytes);
  while (end < text.size() && end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  std::string line = text.substr(0, end);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return end < text.size() ? line + " ..." : line;
}

Json first_row(const InstructionRow& row) {
  if (row.kind == RowKind::text) return {{"text", shown(row.output)}};
  Json turns = Json::object();
  if (row.kind == RowKind::instruction) {
    turns["instruction"] = shown(row.instruction);
    if (!row.input.empty()) turns["input"] = shown(row.input);
    turns["answer"] = shown(row.output);
    return turns;
  }
  constexpr std::size_t shown_turns = 4;
  for (std::size_t i = 0; i < row.messages.size() && i < shown_turns; ++i)
    turns[std::to_string(i + 1) + " " + row.messages[i].role] = shown(row.messages[i].content);
  return turns;
}

/// "12 rows (3, 5, 8, ...): The answer is empty", most frequent first.
void add_refused(const DataReport& report, Json& notes) {
  struct Reason {
    std::string text;
    std::vector<std::int64_t> rows;
  };
  std::vector<Reason> reasons;
  for (const RefusedRow& row : report.refused) {
    auto known = std::find_if(reasons.begin(), reasons.end(),
                              [&](const Reason& reason) { return reason.text == row.reason; });
    if (known == reasons.end()) {
      if (reasons.size() == 4 * most_reasons) continue;  // counted with the others below
      known = reasons.insert(known, {row.reason, {}});
    }
    known->rows.push_back(row.number);
  }
  std::stable_sort(reasons.begin(), reasons.end(),
                   [](const Reason& a, const Reason& b) { return a.rows.size() > b.rows.size(); });
  if (reasons.size() > most_reasons) reasons.resize(most_reasons);
  std::int64_t told = 0;
  for (const Reason& reason : reasons) {
    std::string numbers;
    for (std::size_t i = 0; i < reason.rows.size() && i < numbers_of_a_reason; ++i)
      numbers += (i > 0 ? ", " : "") + std::to_string(reason.rows[i]);
    if (reason.rows.size() > numbers_of_a_reason) numbers += ", ...";
    const bool one = reason.rows.size() == 1;
    notes.push_back(
        (one ? "Row " + numbers : std::to_string(reason.rows.size()) + " rows (" + numbers + ")") + ": " +
        reason.text);
    told += std::ssize(reason.rows);
  }
  if (told < report.refused_rows)
    notes.push_back(std::to_string(report.refused_rows - told) + " more rows are refused for other reasons");
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < shown_columns; ++i)
    text += (i > 0 ? ", " : "") + shown(names[i]);
  return names.size() > shown_columns ? text + ", ... (" + std::to_string(names.size()) + ")" : text;
}

}  // namespace

Json describe_data(const std::string& path, const ReadOptions& options, std::stop_token stop) {
  RowReader reader(path, options, std::move(stop), {});
  InstructionRow row;
  Json first;
  std::size_t longest = 0, longest_turns = 0;
  std::uint64_t bytes = 0;
  while (reader.next(row)) {
    if (first.is_null()) first = first_row(row);
    std::size_t size =
        row.kind == RowKind::conversation ? 0 : row.instruction.size() + row.input.size() + row.output.size();
    for (const Message& message : row.messages) size += message.content.size();
    longest = std::max(longest, size);
    longest_turns = std::max(longest_turns, row.messages.size());
    bytes += size;
  }
  DataReport report;
  std::string sha256;
  reader.finish(report, sha256);
  Json result = {{"format", report.format}, {"shape", report.shape}, {"confidence", report.confidence}};
  for (const auto& [role, column] : reader.roles()) result["read_as"][role] = shown(column);
  result["bytes"] = report.bytes;
  result["sha256"] = sha256;
  result["read"] = report.read;
  result["used"] = report.used;
  result["refused"] = report.refused_rows;
  result["duplicates"] = report.duplicates;
  result["empty_answers"] = report.empty_answers;
  result["mean_row_bytes"] = bytes / static_cast<std::uint64_t>(report.used);
  result["longest_row_bytes"] = longest;
  if (longest_turns > 0) result["most_turns"] = longest_turns;
  result["columns"] = joined(report.columns);
  result["first_row"] = first;
  Json notes = Json::array();
  for (const std::string& warning : report.warnings) notes.push_back(warning);
  add_refused(report, notes);
  result["notes"] = notes;
  return result;
}

}  // namespace lorikeet
