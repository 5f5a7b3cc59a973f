// SPDX-License-Identifier: Apache-2.0
#include "core/data/row_shaper.h"

#include <algorithm>

#include "core/base/utf8.h"

namespace lorikeet {
namespace {

constexpr std::size_t listed_note_rows = 10;
/// Longer texts are seldom what a person meant to train on.
constexpr std::size_t remarkable_bytes = std::size_t{10} << 20;

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

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

/// Words that programs write for a missing value, which is nothing to train on.
bool is_word_for_nothing(std::string_view text) {
  constexpr std::array<std::string_view, 9> words = {"nan",  "NaN", "NAN", "None", "null",
                                                     "NULL", "N/A", "NA",  "<NA>"};
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::size_t text_bytes(const InstructionRow& row) {
  std::size_t bytes = row.instruction.size() + row.input.size() + row.output.size();
  for (const Message& message : row.messages) bytes += message.content.size();
  return bytes;
}

}  // namespace

void RowNotes::add(const char* sentence, std::int64_t row) {
  Count& count = counts_[sentence];
  if (!count.first.empty() && count.first.back() == row) return;
  ++count.rows;
  if (count.first.size() < listed_note_rows) count.first.push_back(row);
}

std::vector<std::string> RowNotes::texts() const {
  std::vector<std::string> texts;
  for (const auto& [sentence, count] : counts_) {
    std::string text =
        std::string(sentence) + (count.rows == 1 ? ": row" : ": " + std::to_string(count.rows) + " rows,");
    for (std::size_t i = 0; i < count.first.size(); ++i)
      text += (i > 0 ? ", " : " ") + std::to_string(count.first[i]);
    if (count.rows > std::ssize(count.first)) text += ", ...";
    texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

RowShaper::RowShaper(const ReadOptions& options, DataReport& report)
    : options_(options), report_(report), columns_(parse_columns(options.columns)) {}

/// Puts the text of one column into `text`; returns why the row cannot be used, or "".
std::string RowShaper::take(const JsonMember* member, ColumnRole role, std::int64_t row, std::string& text) {
  text.clear();
  if (!member) return {};
  const JsonSlice& value = member->value;
  if (value.kind == JsonKind::null) {
    if (value.text == "NaN") notes_.add("NaN is taken as an empty text", row);
    return {};
  }
  if (value.kind == JsonKind::array || value.kind == JsonKind::object) {
    if (value.empty && role != ColumnRole::output && role != ColumnRole::instruction) return {};
    if (options_.nested == NestedValues::json) {
      text = compact_json(value.text);
      notes_.add("Lists and objects are taken as JSON text", row);
      return {};
    }
    return "The " + std::string(role_word(role)) + " is " + kind_name(value.kind) + ", not text (column \"" +
           std::string(member->key) + "\")";
  }
  if (value.kind != JsonKind::string)
    notes_.add("A number, true or false is taken as the text that is written", row);
  if (!value.escaped) {
    text = value.text;
  } else if (!decode_json_string(value.text, text)) {
    return "The " + std::string(role_word(role)) + " holds half of a surrogate pair, which is no character";
  }
  return {};
}

std::string RowShaper::missing(ColumnRole role) const {
  std::string name = columns_.chosen() ? columns_.name_of(role) : std::string(standard_name(role));
  return "The " + std::string(role_word(role)) + " is missing (no column \"" + name + "\")";
}

std::string RowShaper::empty_answer(const std::string& text, std::int64_t row) {
  ++report_.empty_answers;
  if (options_.empty_answers == EmptyAnswers::keep) {
    notes_.add("The answer is empty, so that only the end is trained", row);
    return {};
  }
  return text.empty() ? "The answer is empty" : "The answer is only white space";
}

std::string RowShaper::shape(const DataRecord& record, InstructionRow& row) {
  if (!record.problem.empty()) return record.problem;
  if (const std::size_t valid = valid_utf8_prefix(record.text); valid < record.text.size()) {
    return "Not valid UTF-8 at byte " + std::to_string(record.offset + valid);
  }
  if (record.kind != JsonKind::object)
    return "The row is " + kind_name(record.kind) + ", not an object with columns";
  const ColumnMap::Found found = columns_.find(record.members);
  const auto at = [&](ColumnRole role) { return found[static_cast<std::size_t>(role)]; };
  row = InstructionRow{};
  row.number = record.number;
  std::string reason;
  if (at(ColumnRole::messages))
    reason = shape_conversation(*at(ColumnRole::messages), found, row);
  else if (at(ColumnRole::text) && !at(ColumnRole::instruction))
    reason = shape_text(*at(ColumnRole::text), row);
  else
    reason = shape_pair(found, row);
  if (!reason.empty()) return reason;
  ++rows_of_kind_[static_cast<std::size_t>(row.kind)];
  if (text_bytes(row) >= remarkable_bytes) notes_.add("The row is longer than 10 MB", row.number);
  return {};
}

std::string RowShaper::shape_pair(const ColumnMap::Found& found, InstructionRow& row) {
  const auto at = [&](ColumnRole role) { return found[static_cast<std::size_t>(role)]; };
  const JsonMember* instruction = at(ColumnRole::instruction);
  const JsonMember* output = at(ColumnRole::output);
  if (!instruction && !output && !columns_.name_of(ColumnRole::messages).empty())
    return "The column \"" + columns_.name_of(ColumnRole::messages) + "\" is missing or no list of turns";
  if (instruction && output && instruction->value.kind == JsonKind::array && !instruction->value.empty &&
      options_.nested == NestedValues::refuse) {
    return shape_message_pair(instruction->value, *output, row);
  }
  if (std::string reason = take(instruction, ColumnRole::instruction, row.number, row.instruction);
      !reason.empty())
    return reason;
  if (std::string reason = take(at(ColumnRole::input), ColumnRole::input, row.number, row.input);
      !reason.empty())
    return reason;
  if (std::string reason = take(output, ColumnRole::output, row.number, row.output); !reason.empty())
    return reason;
  if (!instruction) return missing(ColumnRole::instruction);
  if (is_blank(row.instruction) && is_blank(row.input)) return "The instruction is empty";
  if (!output) return missing(ColumnRole::output);
  if (is_blank(row.output)) {
    if (std::string reason = empty_answer(row.output, row.number); !reason.empty()) return reason;
    row.output.clear();
  }
  if (is_word_for_nothing(row.output)) notes_.add("The answer is the word for a missing value", row.number);
  std::string system;
  if (std::string reason = take(at(ColumnRole::system), ColumnRole::system, row.number, system);
      !reason.empty())
    return reason;
  std::vector<Message> earlier;
  if (const JsonMember* history = at(ColumnRole::history)) {
    if (std::string reason = parse_history(history->value, earlier); !reason.empty()) return reason;
  }
  if (is_blank(system) && earlier.empty()) return {};
  row.kind = RowKind::conversation;
  if (!is_blank(system)) row.messages.push_back({"system", system});
  row.messages.insert(row.messages.end(), earlier.begin(), earlier.end());
  const char* blank_line = row.instruction.empty() || row.input.empty() ? "" : "\n\n";
  row.messages.push_back({"user", row.instruction + blank_line + row.input});
  row.messages.push_back({"assistant", row.output});
  return {};
}

/// TRL's prompt and completion as lists of turns; the completion may be a text.
std::string RowShaper::shape_message_pair(const JsonSlice& prompt, const JsonMember& answer,
                                          InstructionRow& row) {
  MessageNotes notes;
  row.kind = RowKind::conversation;
  if (std::string reason = parse_messages(prompt, row.messages, notes); !reason.empty()) return reason;
  std::vector<Message> completion;
  if (answer.value.kind == JsonKind::array) {
    if (std::string reason = parse_messages(answer.value, completion, notes); !reason.empty()) return reason;
  } else {
    std::string text;
    if (std::string reason = take(&answer, ColumnRole::output, row.number, text); !reason.empty())
      return reason;
    completion.push_back({"assistant", std::move(text)});
  }
  row.messages.insert(row.messages.end(), completion.begin(), completion.end());
  return finish_conversation(row);
}

std::string RowShaper::shape_conversation(const JsonMember& messages, const ColumnMap::Found& found,
                                          InstructionRow& row) {
  MessageNotes notes;
  row.kind = RowKind::conversation;
  if (std::string reason = parse_messages(messages.value, row.messages, notes); !reason.empty())
    return reason;
  std::string system;
  if (std::string reason =
          take(found[static_cast<std::size_t>(ColumnRole::system)], ColumnRole::system, row.number, system);
      !reason.empty())
    return reason;
  if (!is_blank(system) && row.messages.front().role != "system")
    row.messages.insert(row.messages.begin(), {"system", std::move(system)});
  from_value_ |= notes.from_value;
  if (notes.tool_calls) notes_.add("Calls of tools are trained as the JSON they are written in", row.number);
  if (const JsonMember* tools = found[static_cast<std::size_t>(ColumnRole::tools)];
      tools && tools->value.kind != JsonKind::null && !tools->value.empty && !tools->value.text.empty()) {
    row.tools = tools->value.text;
    notes_.add("The list of tools is not shown to the model", row.number);
  }
  return finish_conversation(row);
}

/// What any conversation must have: an answer, and no empty one at its end.
std::string RowShaper::finish_conversation(InstructionRow& row) {
  const auto last = std::find_if(row.messages.rbegin(), row.messages.rend(),
                                 [](const Message& message) { return message.role == "assistant"; });
  if (last == row.messages.rend()) return "No turn of the conversation is an answer (role assistant)";
  const bool any_trained = std::any_of(row.messages.begin(), row.messages.end(), [](const Message& message) {
    return message.role == "assistant" && message.trained;
  });
  if (!any_trained) return "No answer of the conversation is to be trained (their weights are 0)";
  if (last != row.messages.rbegin())
    notes_.add("The turns behind the last answer are not trained", row.number);
  if (is_blank(last->content)) {
    if (std::string reason = empty_answer(last->content, row.number); !reason.empty()) return reason;
    last->content.clear();
  }
  const auto user = std::find_if(row.messages.begin(), row.messages.end(),
                                 [](const Message& message) { return message.role == "user"; });
  if (user != row.messages.end()) row.instruction = user->content;
  row.output = last->content;
  return {};
}

std::string RowShaper::shape_text(const JsonMember& text, InstructionRow& row) {
  row.kind = RowKind::text;
  if (std::string reason = take(&text, ColumnRole::text, row.number, row.output); !reason.empty())
    return reason;
  return is_blank(row.output) ? "The text is empty" : "";
}

std::string RowShaper::shape_name() const {
  const auto [pairs, conversations, texts] = rows_of_kind_;
  if (conversations > 0 && conversations >= texts && !columns_.name_of(ColumnRole::messages).empty())
    return from_value_ ? "ShareGPT" : "OpenAI messages";
  if (texts > pairs + conversations) return "Text";
  const std::string question = columns_.name_of(ColumnRole::instruction),
                    answer = columns_.name_of(ColumnRole::output);
  if (question == "question" || question == "query" || question == "Question") return "Question and answer";
  if (question == "prompt" || question == "Prompt") return "Prompt and completion";
  if (question == "instruction" && answer == "response") return "Dolly";
  return columns_.chosen() ? "Instruction" : "Alpaca";
}

std::string RowShaper::confidence() const {
  if (columns_.chosen()) return "chosen";
  const int kinds = static_cast<int>(
      std::count_if(rows_of_kind_.begin(), rows_of_kind_.end(), [](std::int64_t rows) { return rows > 0; }));
  if (kinds > 1 || report_.used * 2 < report_.read) return "low";
  const std::string shape = shape_name();
  const bool well_known = columns_.all_standard() || shape == "Dolly" || shape == "ShareGPT";
  return well_known && columns_.warnings().size() <= (shape == "Dolly" ? 2u : 0u) ? "high" : "medium";
}

}  // namespace lorikeet
