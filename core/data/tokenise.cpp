// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "core/data/dataset.h"
#include "core/data/row_tokeniser.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

constexpr std::int64_t rows_between_looks = 64;

/// Which of a text's tokens are trained.
std::vector<bool> trained_flags(const EncodedText& text, bool all) {
  std::vector<bool> flags(text.ids.size(), all);
  for (const auto& [from, to] : text.trained) {
    for (std::int64_t i = std::max<std::int64_t>(from, 0); i < std::min<std::int64_t>(to, std::ssize(flags));
         ++i) {
      flags[static_cast<std::size_t>(i)] = true;
    }
  }
  return flags;
}

/// The row made of tokens [from, to). The first token of a row is never predicted.
TokenRow make_row(std::int64_t number, const EncodedText& text, const std::vector<bool>& trained,
                  std::size_t from, std::size_t to) {
  TokenRow row;
  row.number = number;
  row.ids.assign(text.ids.begin() + static_cast<std::ptrdiff_t>(from),
                 text.ids.begin() + static_cast<std::ptrdiff_t>(to));
  row.targets.assign(to - from, -1);
  for (std::size_t i = from; i + 1 < to; ++i) {
    if (!trained[i + 1]) continue;
    row.targets[i - from] = text.ids[i + 1];
    ++row.trained_tokens;
  }
  return row;
}

}  // namespace

RowTokeniser::RowTokeniser(const PromptFormat& format, const TokeniseOptions& options, TokenisedData& data)
    : format_(format), options_(options), data_(data) {
  if (options.max_length < 2)
    throw Error(ErrorCode::invalid_argument, "The longest row must have at least 2 tokens", "max-length");
}

void RowTokeniser::add(const InstructionRow& source) {
  EncodedText text;
  try {
    text = encode_row(source, format_);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::bad_format && error.code() != ErrorCode::invalid_argument) throw;
    data_.lengths.push_back(0);
    return refuse(source, "The template cannot write this row: " + error.message());
  }
  if (!options_.train_all_tokens && !text.trained.empty()) {
    // What a template writes after the last end token teaches nothing.
    text.ids.resize(static_cast<std::size_t>(text.trained.back().second));
  }
  const std::vector<bool> trained = trained_flags(text, options_.train_all_tokens);
  const auto limit = static_cast<std::size_t>(options_.max_length);
  data_.longest = std::max(data_.longest, std::ssize(text.ids));
  data_.lengths.push_back(std::ssize(text.ids));
  const bool long_row = text.ids.size() > limit;
  if (long_row) ++data_.long_rows;
  const std::string count = std::to_string(text.ids.size()), limit_text = std::to_string(limit);
  if (long_row && options_.too_long == TooLong::drop) {
    return refuse(source, "Longer than " + limit_text + " tokens (" + count + ")");
  }
  bool kept = false, lost = false;
  const std::size_t end = long_row && options_.too_long == TooLong::cut ? limit : text.ids.size();
  for (std::size_t from = 0; from < end; from += limit) {
    (keep(make_row(source.number, text, trained, from, std::min(from + limit, end))) ? kept : lost) = true;
  }
  if (kept && (lost || end < text.ids.size())) ++data_.cut_rows;
  if (kept) return;
  refuse(source, long_row ? "No trained token is left in " + limit_text + " tokens (the row has " + count +
                                ", its answer begins after them)"
                          : "The row has no trained token");
}

bool RowTokeniser::keep(TokenRow row) {
  if (row.trained_tokens == 0) return false;
  data_.tokens += std::ssize(row.ids);
  data_.trained_tokens += row.trained_tokens;
  const auto last =
      std::find_if(row.targets.rbegin(), row.targets.rend(), [](TokenId id) { return id >= 0; });
  const auto& ends = format_.stop_ids();
  if (std::find(ends.begin(), ends.end(), *last) != ends.end()) ++data_.end_rows;
  ++kept_;
  data_.rows.push_back(std::move(row));
  return true;
}

void RowTokeniser::refuse(const InstructionRow& source, std::string reason) {
  data_.refused.push_back({source.number, std::move(reason)});
}

void RowTokeniser::finish() {
  if (kept_ > 0 && data_.end_rows == 0 && format_.end_id() >= 0) {
    data_.warnings.push_back(
        "No row carries the end token, so the model will not learn to stop; every answer is cut off");
  }
}

EncodedText encode_row(const InstructionRow& row, const PromptFormat& format) {
  switch (row.kind) {
    case RowKind::conversation:
      return format.encode_conversation(row.messages, true);
    case RowKind::text:
      return format.encode_text(row.output);
    case RowKind::instruction:
      break;
  }
  return format.encode_instruction(row.instruction, row.input, row.output);
}

TokenisedData tokenise(const std::vector<InstructionRow>& rows, const PromptFormat& format,
                       const TokeniseOptions& options, std::stop_token stop, const RowsRead& progress) {
  TokenisedData data;
  data.rows.reserve(rows.size());
  RowTokeniser tokeniser(format, options, data);
  std::int64_t done = 0;
  for (const InstructionRow& row : rows) {
    tokeniser.add(row);
    if (++done % rows_between_looks != 0) continue;
    if (stop.stop_requested()) throw Error(ErrorCode::cancelled, "Tokenising was stopped");
    if (progress) progress(done);
  }
  if (progress) progress(done);
  tokeniser.finish();
  return data;
}

}  // namespace lorikeet
