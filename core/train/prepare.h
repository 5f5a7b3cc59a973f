// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/data/dataset.h"
#include "core/model/model_spec.h"
#include "core/text/prompt.h"
#include "core/train/plan.h"
#include "core/train/settings.h"

namespace lorikeet {

class TokenStore;

/// Everything a run, the plan and the wizard know of the data once it is read: rows as the model will see
/// them.
struct PreparedData {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const PromptFormat> format;
  InstructionData source;  ///< a file that is streamed has its report here and no rows
  std::optional<InstructionData> evaluation_source;  ///< when eval-data names a file
  std::vector<TokenRow> train, evaluation;
  std::shared_ptr<const TokenStore> store;  ///< where the rows' tokens lie, nullptr when they are their own
  std::vector<RefusedRow> refused;          ///< by reading and by tokenising, in row order
  std::int64_t cut_rows = 0;
  std::int64_t long_rows = 0;         ///< longer than max-length, whatever was done with them
  std::int64_t end_rows = 0;          ///< rows whose last trained token is the end token
  std::int64_t train_end_rows = 0;    ///< of them, rows to train on
  std::int64_t longest = 0;           ///< tokens, before cutting
  std::vector<std::int64_t> lengths;  ///< tokens of every row read, before cutting
  std::int64_t max_length = 0;
  DataShape shape;
};

/// The prompt format of a model under these settings; `adapter_folder` ("" = none) may carry a template and a
/// system text.
std::shared_ptr<const PromptFormat> choose_format(const ModelSpec& spec, const Settings& settings,
                                                  const std::string& adapter_folder,
                                                  std::shared_ptr<const Tokenizer> tokenizer);

/// How data sets are read under these settings. Throws Error(invalid_argument) for columns that cannot be.
ReadOptions read_options(const Settings& settings);

/// Reads, splits, tokenises and counts. The one path for training, `lorikeet plan` and the wizard. Large
/// files are streamed through a file of tokens (prepare_parts.h). Throws Error: unreadable or unusable data,
/// no row left after tokenising, cancelled.
PreparedData prepare_data(const std::string& model_path, const ModelSpec& spec, const std::string& data_path,
                          const std::string& adapter_folder, const Settings& settings,
                          std::stop_token stop = {}, const RowsRead& progress = {});

/// The part of it after reading, for rows that stay in memory while settings change: `source` and
/// `evaluation` (nullptr unless eval-data names a file) are used and not kept.
PreparedData prepare_rows(const InstructionData& source, const InstructionData* evaluation,
                          std::shared_ptr<const Tokenizer> tokenizer, const ModelSpec& spec,
                          const std::string& adapter_folder, const Settings& settings,
                          std::stop_token stop = {}, const RowsRead& progress = {});

/// Tokens of the cache that answers the sample prompts: the longest prompt and its answer, within the model's
/// context and 1,024; 0 without prompts.
std::int64_t sample_context(const PromptFormat& format, const std::vector<std::string>& prompts,
                            const ModelSpec& spec);
inline constexpr std::int64_t sample_answer_tokens = 128;

/// The memory a run may take: the setting, or what is free less a tenth. A GPU has no more than what is free,
/// whatever the setting asks for; on the processor the setting stands, since caches and swap give way.
std::uint64_t resolved_memory_limit(const Settings& settings, std::uint64_t memory_free_bytes, bool is_cuda);

}  // namespace lorikeet
