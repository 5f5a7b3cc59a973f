// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "core/train/prepare.h"

namespace lorikeet {

/// How rows are tokenised under these settings.
TokeniseOptions tokenise_options(const Settings& settings, std::int64_t max_length);

/// Adds what was found in tokenising a part of the rows to `data`, and hands out the part's rows.
std::vector<TokenRow> add_part(PreparedData& data, TokenisedData part);

/// Puts refused rows in order and counts the shape of the data. Throws Error(invalid_argument) when no row is
/// left to train on.
void complete(PreparedData& data, const ModelSpec& spec, const Settings& settings, const std::string& path);

/// As prepare_data() with everything chosen, for a data file of any size: rows are read and tokenised one
/// after the other into a file in `cache_folder`, from where training reads them; memory holds some 150 bytes
/// a row. The file is named by the content of data and tokenizer, the template and all settings that matter,
/// so that the next run with the same finds it; a damaged one is made anew, and all may be removed at any
/// time.
PreparedData prepare_streamed(PreparedData data, const ModelSpec& spec, const std::string& model_path,
                              const std::string& data_path, const Settings& settings,
                              const std::string& cache_folder, std::stop_token stop,
                              const RowsRead& progress);

/// Where prepare_data() keeps these files.
std::string token_cache_folder();
/// Whether prepare_data() streams a data file: from this size on, a quarter of it where the file is
/// compressed. Throws Error when it cannot be opened.
bool is_streamed(const std::string& data_path);
inline constexpr std::uint64_t streamed_data_bytes = std::uint64_t{64} << 20;
/// Older files go when all are larger than this together.
inline constexpr std::uint64_t most_token_cache_bytes = std::uint64_t{20} << 30;

}  // namespace lorikeet
