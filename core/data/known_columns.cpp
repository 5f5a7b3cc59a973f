// SPDX-License-Identifier: Apache-2.0
#include "core/data/known_columns.h"

#include <algorithm>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

struct RoleRow {
  std::string_view name, word;
  std::vector<std::string_view> others;
};

/// Alpaca's names first; the others are Dolly's, those of prompt and completion pairs and of question and
/// answer lists, ShareGPT's.
const std::array<RoleRow, column_roles>& role_table() {
  static const std::array<RoleRow, column_roles> table = {{
      {"instruction", "instruction", {"Instruction", "prompt", "question", "query", "Question", "Prompt"}},
      {"input", "input", {"Input", "context", "Context"}},
      {"output", "answer", {"Output", "response", "completion", "answer", "Answer", "Response"}},
      {"system", "system text", {"system_prompt"}},
      {"history", "history", {}},
      {"messages", "conversation", {"conversations", "conversation", "dialogue", "dialog"}},
      {"text", "text", {}},
      {"tools", "list of tools", {"functions"}},
  }};
  return table;
}

const RoleRow& row_of(ColumnRole role) {
  return role_table()[static_cast<std::size_t>(role)];
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

Error wrong_columns(const std::string& what) {
  return Error(ErrorCode::invalid_argument, what, "columns",
               "Write role=column pairs, for example instruction=question,output=answer; the roles are "
               "instruction, input, output, system, history, messages, text and tools");
}

/// Cuts "role=name" or "role=\"name\"" off the front of `rest`, with the comma behind it.
std::pair<std::string, std::string> next_pair(std::string_view& rest) {
  const std::size_t equals = rest.find('=');
  if (equals == std::string_view::npos) throw wrong_columns("\"" + std::string(rest) + "\" names no column");
  std::string role(without_blanks(rest.substr(0, equals)));
  rest = without_blanks(rest.substr(equals + 1));
  std::string name;
  if (!rest.empty() && rest.front() == '"') {
    const std::size_t quote = rest.find('"', 1);
    if (quote == std::string_view::npos) throw wrong_columns("A quote is not closed");
    name = rest.substr(1, quote - 1);
    rest = without_blanks(rest.substr(quote + 1));
    if (!rest.empty() && rest.front() != ',')
      throw wrong_columns("A comma is missing behind \"" + name + "\"");
    if (!rest.empty()) rest.remove_prefix(1);
  } else {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    name = without_blanks(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  if (name.empty()) throw wrong_columns("The role " + role + " is given no column");
  return {std::move(role), std::move(name)};
}

}  // namespace

std::string_view role_name(ColumnRole role) {
  return row_of(role).name;
}
std::string_view role_word(ColumnRole role) {
  return row_of(role).word;
}
std::string_view standard_name(ColumnRole role) {
  return row_of(role).name;
}
const std::vector<std::string_view>& other_names(ColumnRole role) {
  return row_of(role).others;
}

bool is_known_column(std::string_view name) {
  const std::string small = lower(without_blanks(name));
  for (const RoleRow& row : role_table()) {
    if (small == row.name) return true;
    if (std::find(row.others.begin(), row.others.end(), small) != row.others.end()) return true;
  }
  return false;
}

ColumnChoice parse_columns(std::string_view setting) {
  ColumnChoice choice;
  std::string_view rest = without_blanks(setting);
  if (rest.empty() || rest == "auto") return choice;
  while (!rest.empty()) {
    const auto [role, name] = next_pair(rest);
    std::size_t index = 0;
    while (index < column_roles && role_table()[index].name != role) ++index;
    if (index == column_roles) throw wrong_columns("There is no role \"" + role + "\"");
    if (!choice[index].empty()) throw wrong_columns("The role " + role + " is given twice");
    choice[index] = name;
  }
  const auto given = [&](ColumnRole role) { return !choice[static_cast<std::size_t>(role)].empty(); };
  const bool pair = given(ColumnRole::instruction) && given(ColumnRole::output);
  if (!pair && !given(ColumnRole::messages) && !given(ColumnRole::text))
    throw wrong_columns("These columns make no row: instruction and output, or messages, or text are needed");
  return choice;
}

}  // namespace lorikeet
