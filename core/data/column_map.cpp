// SPDX-License-Identifier: Apache-2.0
#include "core/data/column_map.h"

#include <algorithm>

#include "core/data/dataset.h"

namespace lorikeet {
namespace {

constexpr std::array<std::string_view, column_roles> standard_names = {"instruction", "input", "output"};
constexpr std::array<std::string_view, column_roles> role_texts = {"instruction", "input", "answer"};
/// Other names in use for each text (Dolly's, prompt and completion pairs, question and answer lists).
const std::array<std::vector<std::string_view>, column_roles> other_names = {{
    {"Instruction", "prompt", "question", "query"},
    {"Input", "context"},
    {"Output", "response", "completion", "answer"},
}};

constexpr std::size_t longest_listed_name = 200;

const JsonMember* last_named(const std::vector<JsonMember>& members, std::string_view name) {
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->key == name) return &*member;
  }
  return nullptr;
}

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

}  // namespace

void ColumnMap::see(const std::vector<JsonMember>& members) {
  std::size_t expected = 0;  // rows mostly have the same columns in the same order
  for (const JsonMember& member : members) {
    if (expected < columns_.size() && columns_[expected] == member.key) {
      ++expected;
      continue;
    }
    const auto known = std::find(columns_.begin(), columns_.end(), member.key);
    expected = static_cast<std::size_t>(known - columns_.begin()) + 1;
    if (known != columns_.end() || columns_.size() == max_listed_columns) continue;
    if (member.key.size() <= longest_listed_name) columns_.emplace_back(member.key);
  }
}

const JsonMember* ColumnMap::bind(ColumnRole role, const std::vector<JsonMember>& members) {
  const auto index = static_cast<std::size_t>(role);
  std::vector<std::string_view> candidates;
  for (const std::string_view name : other_names[index]) {
    if (last_named(members, name)) candidates.push_back(name);
  }
  if (candidates.empty()) return nullptr;
  if (candidates.size() == 1) {
    bound_[index] = candidates.front();
    return last_named(members, candidates.front());
  }
  std::string text = "Which column is the " + std::string(role_texts[index]) + " is not clear: ";
  for (const std::string_view name : candidates)
    text += (name == candidates.front() ? "" : ", ") + quoted(name);
  text += "; name it " + quoted(standard_names[index]);
  if (std::find(undecided_.begin(), undecided_.end(), text) == undecided_.end() && undecided_.size() < 10) {
    undecided_.push_back(text);
  }
  return nullptr;
}

ColumnMap::Found ColumnMap::find(const std::vector<JsonMember>& members) {
  see(members);
  Found found{};
  for (std::size_t i = 0; i < column_roles; ++i) {
    found[i] = last_named(members, standard_names[i]);
    if (found[i])
      standard_seen_[i] = true;
    else if (!bound_[i].empty())
      found[i] = last_named(members, bound_[i]);
    else if (!standard_seen_[i])
      found[i] = bind(static_cast<ColumnRole>(i), members);
  }
  constexpr std::size_t instruction = 0, input = 1;
  if (found[instruction] == found[input]) found[input] = nullptr;
  if (!found[instruction] && found[input] &&
      !standard_seen_[instruction]) {  // rows of input and output alone
    std::swap(found[instruction], found[input]);
    if (bound_[instruction].empty()) bound_[instruction] = found[instruction]->key;
  }
  return found;
}

std::vector<std::string> ColumnMap::warnings() const {
  std::vector<std::string> texts = undecided_;
  for (std::size_t i = 0; i < column_roles; ++i) {
    if (bound_[i].empty()) continue;
    texts.push_back("The column " + quoted(bound_[i]) + " is read as the " + std::string(role_texts[i]) +
                    ", since the rows have no column " + quoted(standard_names[i]));
  }
  return texts;
}

}  // namespace lorikeet
