// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/data/token_list.h"
#include "core/text/prompt.h"

namespace lorikeet {

/// What a row is to the model.
enum class RowKind : std::uint8_t {
  instruction,   ///< one question and one answer
  conversation,  ///< turns; every answer is trained
  text,          ///< a text that is trained whole
};

/// One usable record of a data set.
struct InstructionRow {
  std::int64_t number = 0;       ///< 1-based position in the file, as a person counts rows
  std::string instruction = {};  ///< of a conversation its first question, to be shown
  std::string input = {};        ///< may be empty
  std::string output = {};       ///< of a conversation its last answer, to be shown; of a text the text
  RowKind kind = RowKind::instruction;
  std::vector<Message> messages = {};  ///< of a conversation
  std::string tools = {};              ///< of a conversation, as JSON; "" = none
};

/// A record that is not used, and why.
struct RefusedRow {
  std::int64_t number = 0;
  std::string reason;  ///< for example "The answer is missing"
};

/// What reading found. read = used + refused_rows; nothing is silent.
struct DataReport {
  std::string format;  ///< shape and container, for example "Alpaca JSONL" or "ShareGPT Parquet"
  std::string shape;   ///< "Alpaca", "Dolly", "ShareGPT", "OpenAI messages", "Text", ...
  std::string
      confidence;  ///< that the shape is the right one: "high", "medium", "low", or "chosen" by a person
  std::int64_t bytes = 0;
  std::int64_t read = 0;
  std::int64_t used = 0;
  std::int64_t refused_rows = 0;
  std::int64_t duplicates = 0;  ///< later copies of an equal record
  std::int64_t empty_answers = 0;
  std::vector<RefusedRow>
      refused;  ///< the first max_listed_rows of them, so that a hostile file cannot fill memory
  std::vector<std::string> columns;   ///< as found, in first-seen order
  std::vector<std::string> warnings;  ///< for example "Converted from UTF-16"
};

/// Refused rows and distinct columns that a report lists; the others are only counted.
inline constexpr std::size_t max_listed_rows = 10'000;
inline constexpr std::size_t max_listed_columns = 256;

struct InstructionData {
  std::string path;
  std::string sha256;  ///< of the file's bytes
  std::vector<InstructionRow> rows;
  DataReport report;
};

/// Progress of long reading: called now and then with rows read so far.
using RowsRead = std::function<void(std::int64_t rows)>;

/// What is done with answers that are empty, values that are no text, and copies of a row.
enum class EmptyAnswers : std::uint8_t { refuse, keep };  ///< keep: the end token alone is trained
enum class NestedValues : std::uint8_t { refuse, json };  ///< json: they become compact JSON text
enum class Duplicates : std::uint8_t { keep, drop };

struct ReadOptions {
  std::string columns = {};  ///< as parse_columns() takes it; "" = found by their names
  EmptyAnswers empty_answers = EmptyAnswers::refuse;
  NestedValues nested = NestedValues::refuse;
  Duplicates duplicates = Duplicates::keep;
  std::size_t most_kept = SIZE_MAX;  ///< usable rows beyond these are counted and not kept
};

/// Reads a data set: JSON (array, {"data": [...]}, {"train": [...]}, single object), JSONL, CSV, TSV or plain
/// text, packed by gzip or zstd or not, recognised by content and not by extension; UTF-8 whatever the
/// locale, or UTF-16. The file is streamed: memory is that of the rows kept. A row is an instruction (columns
/// instruction, input, output or their other usual names, with a warning), a conversation (messages or
/// conversations) or a text. Numbers, true and false become text as written; null and [] count as empty. Bad
/// rows are refused one by one with number and reason; a file that breaks off keeps the rows before the
/// break. A row is at most 64 MB and nested at most 128 deep. Throws Error when the file cannot be read or
/// holds no usable row (naming the columns found and those expected), and Error(cancelled) when asked to
/// stop.
InstructionData read_instruction_data(const std::string& path, std::stop_token stop = {},
                                      const RowsRead& progress = {}, const ReadOptions& options = {});

/// A row as training sees it.
EncodedText encode_row(const InstructionRow& row, const PromptFormat& format);

/// A row ready for training.
struct TokenRow {
  std::int64_t number = 0;  ///< row in the file
  TokenList ids;
  /// targets[t] = ids[t+1] when that token is trained, else -1; the last is -1.
  TokenList targets;
  std::int64_t trained_tokens = 0;  ///< targets that are not -1
};

/// What happens to rows longer than max_length.
enum class TooLong : std::uint8_t { cut, drop, split };

struct TokeniseOptions {
  std::int64_t max_length = 1024;
  TooLong too_long = TooLong::cut;
  bool train_all_tokens = false;  ///< train-on all: prompt tokens too
};

struct TokenisedData {
  std::vector<TokenRow> rows;
  std::vector<RefusedRow> refused;  ///< dropped here (each row once): no trained token left, too long
  std::int64_t tokens = 0;
  std::int64_t trained_tokens = 0;
  std::int64_t long_rows = 0;         ///< rows longer than max_length, whatever was done with them
  std::int64_t cut_rows = 0;          ///< rows that lost tokens
  std::int64_t end_rows = 0;          ///< rows whose last trained token is the format's end token
  std::int64_t longest = 0;           ///< before cutting
  std::vector<std::int64_t> lengths;  ///< tokens of every row given, before cutting
  std::vector<std::string> warnings;  ///< for example that no row carries an end token
};

/// Encodes every row with `format` and applies the limit of `options`. Cutting keeps the first max_length
/// tokens, so an answer that is cut off has no end token; splitting makes rows of at most max_length tokens
/// one after the other (all with the number of their row) and leaves out parts without a trained token; a row
/// with no trained token left is refused with its reason. The same rows are kept with and without packing.
/// A row that the template refuses is refused with the template's words. Throws Error(cancelled) when asked
/// to stop.
TokenisedData tokenise(const std::vector<InstructionRow>& rows, const PromptFormat& format,
                       const TokeniseOptions& options, std::stop_token stop = {},
                       const RowsRead& progress = {});

/// Seeded split: a pure function of (seed, number of rows). Returns row indexes, each part ascending.
struct Split {
  std::vector<std::int64_t> train;
  std::vector<std::int64_t> evaluation;
};
/// fraction 0 gives no evaluation rows; otherwise at least one row on each side when there are two or more.
/// Throws Error(invalid_argument) unless 0 <= fraction < 1.
Split split_rows(std::int64_t rows, double evaluation_fraction, std::uint64_t seed);

/// The order of an epoch: a pure function of (seed, epoch, count); the identity when shuffle is false.
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch,
                                      bool shuffle);

}  // namespace lorikeet
