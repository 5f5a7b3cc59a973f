// SPDX-License-Identifier: Apache-2.0
#include "core/train/prepare.h"

#include <algorithm>

#include "core/data/known_columns.h"
#include "core/model/adapter_files.h"
#include "core/train/epoch_batches.h"
#include "core/train/prepare_parts.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

std::vector<InstructionRow> chosen_rows(const std::vector<InstructionRow>& rows,
                                        const std::vector<std::int64_t>& indexes) {
  std::vector<InstructionRow> chosen;
  for (const std::int64_t index : indexes) chosen.push_back(rows[static_cast<std::size_t>(index)]);
  return chosen;
}

}  // namespace

TokeniseOptions tokenise_options(const Settings& settings, std::int64_t max_length) {
  TokeniseOptions options;
  options.max_length = max_length;
  options.too_long = settings.too_long == "drop"    ? TooLong::drop
                     : settings.too_long == "split" ? TooLong::split
                                                    : TooLong::cut;
  options.train_all_tokens = settings.train_on == "all";
  return options;
}

std::vector<TokenRow> add_part(PreparedData& data, TokenisedData part) {
  data.refused.insert(data.refused.end(), part.refused.begin(), part.refused.end());
  data.cut_rows += part.cut_rows;
  data.long_rows += part.long_rows;
  data.end_rows += part.end_rows;
  data.lengths.insert(data.lengths.end(), part.lengths.begin(), part.lengths.end());
  data.longest = std::max(data.longest, part.longest);
  return std::move(part.rows);
}

void complete(PreparedData& data, const ModelSpec& spec, const Settings& settings, const std::string& path) {
  std::stable_sort(data.refused.begin(), data.refused.end(),
                   [](const RefusedRow& one, const RefusedRow& other) { return one.number < other.number; });
  if (data.train.empty()) {
    const std::string reason = data.refused.empty() ? ""
                                                    : "; row " + std::to_string(data.refused.front().number) +
                                                          ": " + data.refused.front().reason;
    throw Error(ErrorCode::invalid_argument, "No row is left to train on" + reason, path,
                "Raise max-length, or look at the rows that were refused");
  }
  data.shape = data_shape(data.train, data.evaluation, settings, data.max_length);
  data.shape.sample_tokens = sample_context(*data.format, settings.sample_prompts, spec);
}

std::shared_ptr<const PromptFormat> choose_format(const ModelSpec& spec, const Settings& settings,
                                                  const std::string& adapter_folder,
                                                  std::shared_ptr<const Tokenizer> tokenizer) {
  AdapterNotes notes;
  if (!adapter_folder.empty()) notes = read_adapter_notes(adapter_folder);
  std::string setting = settings.template_name;
  // An adapter trained on the Alpaca form carries no template text, only the form's name.
  if (setting == "auto" && notes.template_text.empty() &&
      (notes.format == "alpaca" || notes.format == "none")) {
    setting = notes.format;
  }
  const std::string& system = settings.system.empty() ? notes.system : settings.system;
  return std::make_shared<const PromptFormat>(
      PromptFormat::choose(setting, notes.template_text, system, std::move(tokenizer), spec.eos_ids));
}

PreparedData prepare_rows(const InstructionData& source, const InstructionData* evaluation,
                          std::shared_ptr<const Tokenizer> tokenizer, const ModelSpec& spec,
                          const std::string& adapter_folder, const Settings& settings, std::stop_token stop,
                          const RowsRead& progress) {
  require_settings_that_agree(settings);
  PreparedData data;
  data.tokenizer = std::move(tokenizer);
  data.format = choose_format(spec, settings, adapter_folder, data.tokenizer);
  data.max_length = resolved_max_length(settings, spec);
  data.refused = source.report.refused;
  const auto count = static_cast<std::int64_t>(source.rows.size());
  const Split split = split_rows(count, evaluation ? 0.0 : settings.eval_fraction, settings.seed);
  const TokeniseOptions options = tokenise_options(settings, data.max_length);
  data.train =
      add_part(data, tokenise(chosen_rows(source.rows, split.train), *data.format, options, stop, progress));
  data.train_end_rows = data.end_rows;
  data.evaluation =
      add_part(data, tokenise(evaluation ? evaluation->rows : chosen_rows(source.rows, split.evaluation),
                              *data.format, options, stop, progress));
  complete(data, spec, settings, source.path);
  return data;
}

ReadOptions read_options(const Settings& settings) {
  parse_columns(settings.columns);
  ReadOptions options;
  options.columns = settings.columns;
  options.empty_answers = settings.empty_answers == "keep" ? EmptyAnswers::keep : EmptyAnswers::refuse;
  options.nested = settings.nested_values == "json" ? NestedValues::json : NestedValues::refuse;
  options.duplicates = settings.duplicates == "drop" ? Duplicates::drop : Duplicates::keep;
  return options;
}

PreparedData prepare_data(const std::string& model_path, const ModelSpec& spec, const std::string& data_path,
                          const std::string& adapter_folder, const Settings& settings, std::stop_token stop,
                          const RowsRead& progress) {
  std::shared_ptr<const Tokenizer> tokenizer = load_tokenizer(model_path);
  const ReadOptions options = read_options(settings);
  if (is_streamed(data_path)) {
    require_settings_that_agree(settings);
    PreparedData data;
    data.format = choose_format(spec, settings, adapter_folder, tokenizer);
    data.tokenizer = std::move(tokenizer);
    data.max_length = resolved_max_length(settings, spec);
    return prepare_streamed(std::move(data), spec, model_path, data_path, settings, token_cache_folder(),
                            stop, progress);
  }
  InstructionData source = read_instruction_data(data_path, stop, progress, options);
  std::optional<InstructionData> evaluation;
  if (!settings.eval_data.empty())
    evaluation = read_instruction_data(settings.eval_data, stop, progress, options);
  PreparedData data = prepare_rows(source, evaluation ? &*evaluation : nullptr, std::move(tokenizer), spec,
                                   adapter_folder, settings, stop, progress);
  data.source = std::move(source);
  data.evaluation_source = std::move(evaluation);
  return data;
}

std::int64_t sample_context(const PromptFormat& format, const std::vector<std::string>& prompts,
                            const ModelSpec& spec) {
  constexpr std::int64_t most = 1024;
  std::int64_t longest = 0;
  for (const std::string& prompt : prompts) {
    const auto ids = format.encode_prompt({{"user", prompt}}).ids;
    longest = std::max(longest, static_cast<std::int64_t>(ids.size()) + sample_answer_tokens);
  }
  return std::min({longest, most, spec.context});
}

std::uint64_t resolved_memory_limit(const Settings& settings, std::uint64_t memory_free_bytes, bool is_cuda) {
  if (settings.memory_limit_bytes == 0) return memory_free_bytes / 10 * 9;
  return is_cuda ? std::min(settings.memory_limit_bytes, memory_free_bytes) : settings.memory_limit_bytes;
}

}  // namespace lorikeet
