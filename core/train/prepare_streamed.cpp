// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/data/parquet/metadata.h"
#include "core/data/row_reader.h"
#include "core/data/row_tokeniser.h"
#include "core/data/token_store.h"
#include "core/train/prepare_parts.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

/// Raised whenever the same settings give other tokens than before.
constexpr int tokens_version = 1;
constexpr std::int64_t rows_between_looks = 64;

/// Of the files that make a tokenizer; of a GGUF file its beginning, where its metadata lie.
std::string tokenizer_hash(const std::string& model_path) {
  std::error_code ignored;
  if (!fs::is_directory(model_path, ignored)) {
    constexpr std::size_t metadata_bytes = std::size_t{64} << 20;
    const MappedFile file(model_path);
    return sha256_hex(file.text().substr(0, metadata_bytes));
  }
  std::string all;
  for (const char* name : {"tokenizer.json", "tokenizer.model", "tokenizer_config.json",
                           "special_tokens_map.json", "added_tokens.json", "vocab.json", "merges.txt"}) {
    const std::string path = model_path + "/" + name;
    if (fs::exists(path, ignored)) all += std::string(name) + " " + sha256_file(path) + "\n";
  }
  return sha256_hex(all);
}

std::string store_key(const PreparedData& data, const ModelSpec& spec, const std::string& model_path,
                      const std::string& data_sha256, const Settings& settings) {
  const Json key = {{"version", tokens_version},
                    {"data", data_sha256},
                    {"columns", settings.columns},
                    {"empty_answers", settings.empty_answers},
                    {"nested_values", settings.nested_values},
                    {"duplicates", settings.duplicates},
                    {"tokenizer", tokenizer_hash(model_path)},
                    {"eos", spec.eos_ids},
                    {"template", data.format->template_hash()},
                    {"system", data.format->system()},
                    {"train_on", settings.train_on},
                    {"too_long", settings.too_long},
                    {"max_length", data.max_length}};
  return sha256_hex(dump_json(key));
}

Json refused_json(const std::vector<RefusedRow>& rows) {
  Json list = Json::array();
  for (const RefusedRow& row : rows) list.push_back({row.number, row.reason});
  return list;
}
std::vector<RefusedRow> refused_of(const Json& list) {
  std::vector<RefusedRow> rows;
  for (const Json& row : list) rows.push_back({row.at(0).get<std::int64_t>(), row.at(1).get<std::string>()});
  return rows;
}

Json notes_json(const DataReport& report, const TokenisedData& part) {
  return {{"format", report.format},
          {"shape", report.shape},
          {"confidence", report.confidence},
          {"bytes", report.bytes},
          {"read", report.read},
          {"used", report.used},
          {"refused_rows", report.refused_rows},
          {"duplicates", report.duplicates},
          {"empty_answers", report.empty_answers},
          {"refused", refused_json(report.refused)},
          {"columns", report.columns},
          {"warnings", report.warnings},
          {"dropped", refused_json(part.refused)},
          {"long_rows", part.long_rows},
          {"cut_rows", part.cut_rows},
          {"longest", part.longest}};
}

void take_notes(const Json& notes, DataReport& report, TokenisedData& part) {
  notes.at("format").get_to(report.format);
  notes.at("shape").get_to(report.shape);
  notes.at("confidence").get_to(report.confidence);
  notes.at("bytes").get_to(report.bytes);
  notes.at("read").get_to(report.read);
  notes.at("used").get_to(report.used);
  notes.at("refused_rows").get_to(report.refused_rows);
  notes.at("duplicates").get_to(report.duplicates);
  notes.at("empty_answers").get_to(report.empty_answers);
  report.refused = refused_of(notes.at("refused"));
  notes.at("columns").get_to(report.columns);
  notes.at("warnings").get_to(report.warnings);
  part.refused = refused_of(notes.at("dropped"));
  notes.at("long_rows").get_to(part.long_rows);
  notes.at("cut_rows").get_to(part.cut_rows);
  notes.at("longest").get_to(part.longest);
}

/// Reads and tokenises the whole file into a store.
void write_store(const std::string& store_path, const std::string& key, const PreparedData& data,
                 const std::string& data_path, const std::string& data_sha256, const Settings& settings,
                 std::stop_token stop, const RowsRead& progress) {
  TokenStoreWriter writer(store_path, key);
  TokenisedData part;
  const TokeniseOptions options = tokenise_options(settings, data.max_length);
  RowTokeniser tokeniser(*data.format, options, part);
  RowReader reader(data_path, read_options(settings), stop, {});
  InstructionRow row;
  std::int64_t source = 0;
  for (; reader.next(row); ++source) {
    const std::int64_t ends_before = part.end_rows;
    tokeniser.add(row);
    for (std::size_t i = 0; i < part.rows.size(); ++i)
      writer.add(part.rows[i], source, i + 1 == part.rows.size() && part.end_rows > ends_before);
    part.rows.clear();
    if (source % rows_between_looks != 0) continue;
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "Tokenising was stopped");
    if (progress) progress(source);
  }
  DataReport report;
  std::string sha256;
  reader.finish(report, sha256);
  if (sha256 != data_sha256)
    throw Error(ErrorCode::io, "The data file was changed while it was read", data_path, "Start again");
  StoreSummary summary{source, std::move(part.lengths), {}};
  summary.notes = dump_json(notes_json(report, part));
  writer.commit(summary);
}

/// Removes the files that were not used for the longest time until the others fit, but never `kept`.
void trim_cache(const std::string& folder, const std::string& kept) {
  struct Entry {
    fs::file_time_type used;
    std::uint64_t bytes;
    fs::path path;
  };
  std::vector<Entry> entries;
  std::uint64_t total = 0;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    if (file.path().extension() != ".tokens") continue;
    const std::uint64_t bytes = file.file_size(error);
    if (error) continue;
    total += bytes;
    entries.push_back({file.last_write_time(error), bytes, file.path()});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (total <= most_token_cache_bytes) return;
    if (entry.path == kept || !fs::remove(entry.path, error)) continue;
    total -= entry.bytes;
  }
}

std::vector<bool> evaluation_flags(const Split& split, std::int64_t sources) {
  std::vector<bool> flags(static_cast<std::size_t>(sources), false);
  for (const std::int64_t index : split.evaluation) flags[static_cast<std::size_t>(index)] = true;
  return flags;
}

/// Rows and counts of a store, split as rows in memory are.
void take_store(PreparedData& data, const TokenStore& store, const Settings& settings, bool own_evaluation) {
  TokenisedData train, evaluation;
  take_notes(parse_json(store.summary().notes, "tokenised data"), data.source.report, train);
  const std::int64_t sources = store.summary().sources;
  const Split split = split_rows(sources, own_evaluation ? 0.0 : settings.eval_fraction, settings.seed);
  const std::vector<bool> evaluates = evaluation_flags(split, sources);
  const std::vector<std::int64_t>& lengths = store.summary().lengths;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    (evaluates[i] ? evaluation : train).lengths.push_back(lengths[i]);
  for (const StoredRow& row : store.rows()) {
    TokenisedData& part = evaluates[static_cast<std::size_t>(row.source)] ? evaluation : train;
    part.rows.push_back(store.row(row));
    part.end_rows += row.ends;
  }
  data.refused = data.source.report.refused;
  data.train = add_part(data, std::move(train));
  data.train_end_rows = data.end_rows;
  data.evaluation = add_part(data, std::move(evaluation));
}

}  // namespace

bool is_streamed(const std::string& data_path) {
  FileBytes file(data_path, {});
  const bool packed = parquet::is_parquet(file.peek(4)) || find_compression(file) != Compression::none;
  return file.size_on_disk() >= (packed ? streamed_data_bytes / 4 : streamed_data_bytes);
}

std::string token_cache_folder() {
  return home_folder() + "/cache/tokens";
}

PreparedData prepare_streamed(PreparedData data, const ModelSpec& spec, const std::string& model_path,
                              const std::string& data_path, const Settings& settings,
                              const std::string& cache_folder, std::stop_token stop,
                              const RowsRead& progress) {
  data.source.path = data_path;
  FileBytes bytes(data_path, stop);
  data.source.sha256 = bytes.finish();
  const std::string key = store_key(data, spec, model_path, data.source.sha256, settings);
  const std::string path = cache_folder + "/" + key + ".tokens";
  const std::int64_t vocabulary = data.tokenizer->vocab_size();
  std::shared_ptr<const TokenStore> store = TokenStore::open(path, key, vocabulary);
  if (!store) {
    fs::create_directories(cache_folder);
    write_store(path, key, data, data_path, data.source.sha256, settings, stop, progress);
    store = TokenStore::open(path, key, vocabulary);
    if (!store) throw Error(ErrorCode::io, "The tokenised data cannot be read back", path, "Check the disk");
    trim_cache(cache_folder, path);
  }
  std::error_code ignored;
  fs::last_write_time(path, fs::file_time_type::clock::now(), ignored);
  data.store = store;
  std::optional<InstructionData> evaluation;
  if (!settings.eval_data.empty())
    evaluation = read_instruction_data(settings.eval_data, stop, progress, read_options(settings));
  take_store(data, *store, settings, evaluation.has_value());
  if (evaluation) {
    data.evaluation = add_part(data, tokenise(evaluation->rows, *data.format,
                                              tokenise_options(settings, data.max_length), stop, progress));
    data.evaluation_source = std::move(evaluation);
  }
  complete(data, spec, settings, data_path);
  return data;
}

}  // namespace lorikeet
