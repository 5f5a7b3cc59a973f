// SPDX-License-Identifier: Apache-2.0
#include "core/data/csv_records.h"

#include <algorithm>

namespace lorikeet {
namespace {

/// A file with so many quotes that are never closed is no table; reading on would look through it each time.
constexpr int most_unclosed = 100;

std::string trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(" \t") + 1 - first));
}

std::string without_doubled_quotes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    plain.push_back(text[i]);
    if (text[i] == '"') ++i;
  }
  return plain;
}

}  // namespace

/// A field in quotes whose opening quote stands at text[i]; moves i behind the field. False: unclosed.
bool CsvLine::split_quoted(std::string_view text, std::size_t& i, bool final) {
  Field field;
  const std::size_t start = i + 1;
  std::size_t quote = start;
  for (;;) {
    quote = text.find('"', quote);
    if (quote == std::string_view::npos || (quote + 1 == text.size() && !final)) return false;
    if (quote + 1 == text.size() || text[quote + 1] != '"') break;
    field.doubled = true;
    quote += 2;
  }
  field.text = text.substr(start, quote - start);
  fields_.push_back(field);
  i = quote + 1;
  return true;
}

CsvLine::End CsvLine::split(std::string_view text, char delimiter, bool final) {
  fields_.clear();
  problem_.clear();
  const char stops[] = {delimiter, '\n', '\r'};
  const std::string_view stop_set(stops, sizeof stops);
  for (std::size_t i = 0;;) {
    const bool quoted = i < text.size() && text[i] == '"';
    if (quoted && !split_quoted(text, i, final)) return End::unclosed;
    const std::size_t stop = std::min(text.find_first_of(stop_set, i), text.size());
    if (!quoted) {
      fields_.push_back({text.substr(i, stop - i)});
    } else if (text.substr(i, stop - i).find_first_not_of(" \t") != std::string_view::npos) {
      problem_ = "Text stands behind the closing quote of field " + std::to_string(fields_.size());
    }
    if (stop == text.size() && !final) return End::incomplete;
    if (fields_.size() > JsonScanner::max_members) problem_ = "more than 4096 columns";
    if (stop < text.size() && text[stop] == delimiter) {
      i = stop + 1;
      continue;
    }
    size_ = std::min(stop + 1, text.size());
    if (stop < text.size() && text[stop] == '\r') {
      if (stop + 1 == text.size() && !final) return End::incomplete;
      if (stop + 1 < text.size() && text[stop + 1] == '\n') size_ = stop + 2;
    }
    return End::complete;
  }
}

std::string CsvRecords::format() const {
  switch (delimiter_) {
    case '\t':
      return "TSV";
    case ';':
      return "CSV (semicolons)";
    case '|':
      return "CSV (bars)";
    default:
      return "CSV";
  }
}

/// Moves to the first byte that is no line end; false at the end of the file.
bool CsvRecords::skip_blank_lines() {
  for (;;) {
    const std::string_view view = source_.view();
    const std::size_t text = std::min(view.find_first_not_of("\r\n"), view.size());
    source_.consume(text);
    if (text < view.size()) return true;
    if (!source_.more()) return false;
  }
}

/// Splits the line at the front of the file; returns why it cannot be, with the line consumed then.
std::string CsvRecords::read_line() {
  for (;;) {
    const CsvLine::End end = line_.split(source_.view(), delimiter_, source_.at_end());
    const bool too_long =
        (end == CsvLine::End::complete ? line_.size() : source_.view().size()) > max_record_bytes;
    if (end == CsvLine::End::complete && !too_long) {
      pending_ = line_.size();
      return line_.problem();
    }
    if (!too_long && source_.more()) continue;
    const std::string at = std::to_string(source_.offset());
    skip_one_line();
    if (end == CsvLine::End::unclosed && ++unclosed_ <= most_unclosed)
      return "A quote in the row that begins at byte " + at + " is never closed";
    return "The row is larger than 64 MB";
  }
}

void CsvRecords::skip_one_line() {
  for (;;) {
    const std::string_view view = source_.view();
    const std::size_t end = view.find_first_of("\r\n");
    source_.consume(std::min(end, view.size()));
    if (end != std::string_view::npos || !source_.more()) return;
  }
}

void CsvRecords::read_header() {
  header_read_ = true;
  if (!skip_blank_lines()) return;
  if (!read_line().empty()) warnings_.push_back("The first line, which names the columns, is damaged");
  for (const CsvLine::Field& field : line_.fields()) {
    std::string name = trimmed(field.doubled ? without_doubled_quotes(field.text) : std::string(field.text));
    if (!name.empty() && std::find(header_.begin(), header_.end(), name) != header_.end())
      warnings_.push_back("Two columns are named \"" + name.substr(0, 60) + "\": the last one counts");
    header_.push_back(std::move(name));
    if (header_.size() == JsonScanner::max_members) break;
  }
}

bool CsvRecords::next(DataRecord& record) {
  if (!header_read_) read_header();
  source_.consume(pending_);
  pending_ = 0;
  if (!skip_blank_lines()) return false;
  if (unclosed_ > most_unclosed) {
    warnings_.push_back("Reading ended at byte " + std::to_string(source_.offset()) +
                        ": too many quotes are never closed");
    return false;
  }
  record.number = ++records_;
  record.offset = source_.offset();
  record.kind = JsonKind::object;
  record.members.clear();
  record.text = {};
  record.problem = read_line();
  if (!record.problem.empty()) return true;
  record.text = source_.view().substr(0, pending_);
  record.problem = count_problem();
  if (record.problem.empty()) decode(record);
  return true;
}

/// A field too many may be an empty one (a delimiter at the end of every line).
std::string CsvRecords::count_problem() const {
  const auto& fields = line_.fields();
  const std::size_t expected = header_.size();
  const bool extra_empty = fields.size() > expected &&
                           std::all_of(fields.begin() + static_cast<std::ptrdiff_t>(expected), fields.end(),
                                       [](const CsvLine::Field& field) { return field.text.empty(); });
  if (fields.size() == expected || extra_empty) return {};
  return "The row has " + std::to_string(fields.size()) + " fields, the first line names " +
         std::to_string(expected);
}

void CsvRecords::decode(DataRecord& record) {
  std::size_t doubled_bytes = 0;
  for (const CsvLine::Field& field : line_.fields()) doubled_bytes += field.doubled ? field.text.size() : 0;
  decoded_.clear();
  decoded_.reserve(doubled_bytes);  // the views into it must stay where they are
  for (std::size_t i = 0; i < header_.size(); ++i) {
    const CsvLine::Field& field = line_.fields()[i];
    std::string_view text = field.text;
    if (field.doubled) {
      const std::size_t start = decoded_.size();
      decoded_ += without_doubled_quotes(text);
      text = std::string_view(decoded_).substr(start);
    }
    record.members.push_back({header_[i], false, {JsonKind::string, text, false, text.empty()}});
  }
}

}  // namespace lorikeet
