// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <filesystem>

#include "core/data/csv_records.h"
#include "core/data/json_records.h"
#include "core/data/known_columns.h"
#include "core/data/record.h"
#include "core/data/text_records.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// The extension in small letters, that of the packed file for data.csv.gz.
std::string extension_of(const std::string& path) {
  const auto lower = [](std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
    return text;
  };
  std::filesystem::path name(path);
  std::string extension = lower(name.extension().string());
  if (extension == ".gz" || extension == ".zst" || extension == ".gzip" || extension == ".zstd")
    extension = lower(name.stem().extension().string());
  return extension;
}

template <std::size_t count>
bool is_one_of(const std::string& text, const std::array<const char*, count>& choices) {
  return std::find(choices.begin(), choices.end(), text) != choices.end();
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return false;
  const std::size_t second = text.find_first_not_of(" \t\r\n", first + 1);
  if (text[first] != '{' && text[first] != '[') return false;
  if (second == std::string_view::npos) return true;
  return std::string_view(text[first] == '{' ? "\"'}" : "{[]\"").find(text[second]) != std::string_view::npos;
}

}  // namespace

std::optional<char> find_delimiter(std::string_view text, bool final, bool named_as_table) {
  constexpr std::size_t sample_lines = 20;
  std::optional<char> best;
  std::size_t best_score = 0;
  for (const char delimiter : {',', '\t', ';', '|'}) {
    std::string_view rest = text.substr(std::min(text.find_first_not_of("\r\n"), text.size()));
    CsvLine line;
    if (line.split(rest, delimiter, final) != CsvLine::End::complete || !line.problem().empty()) continue;
    const std::size_t columns = line.fields().size();
    std::size_t known = 0, alike = 0;
    for (const CsvLine::Field& field : line.fields()) known += is_known_column(field.text) ? 1 : 0;
    for (std::size_t i = 0; i < sample_lines; ++i) {
      rest.remove_prefix(line.size());
      if (rest.empty() || line.split(rest, delimiter, final) != CsvLine::End::complete) break;
      alike += line.fields().size() == columns && line.problem().empty() ? 1 : 0;
    }
    if (!named_as_table && (known < 2 || columns < 2)) continue;
    const std::size_t score = 1 + known * 1000 + (columns > 1 ? 100 + alike : 0);
    if (score > best_score) {
      best = delimiter;
      best_score = score;
    }
  }
  if (!best && named_as_table) best = ',';
  return best;
}

std::unique_ptr<RecordSource> open_text_records(TextSource& source, const std::string& path) {
  constexpr std::array<const char*, 5> json_names = {".json", ".jsonl", ".ndjson", ".jsonlines", ".geojson"};
  constexpr std::array<const char*, 4> table_names = {".csv", ".tsv", ".tab", ".psv"};
  const std::string extension = extension_of(path);
  const std::string_view text = source.view();
  if (text.starts_with("PAR1")) {
    throw Error(ErrorCode::unsupported, "The file is a Parquet file that was packed again, which is not read",
                path, "Unpack it: Parquet files are compressed inside");
  }
  if (text.empty() || looks_like_json(text)) return std::make_unique<JsonRecords>(source);
  if (const auto delimiter = find_delimiter(text, source.at_end(), is_one_of(extension, table_names)))
    return std::make_unique<CsvRecords>(source, *delimiter);
  if (is_one_of(extension, json_names)) return std::make_unique<JsonRecords>(source);
  if (text.substr(0, 4096).find('\0') != std::string_view::npos) {
    throw Error(ErrorCode::bad_format, "The file is neither text nor a known format", path,
                "Data sets are JSON, JSONL, CSV, TSV, Parquet or plain text");
  }
  return std::make_unique<TextRecords>(source);
}

}  // namespace lorikeet
