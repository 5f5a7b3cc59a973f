// SPDX-License-Identifier: Apache-2.0
#include "core/data/column_map.h"

#include <algorithm>

#include "core/data/dataset.h"

namespace lorikeet {
namespace {

constexpr std::size_t longest_listed_name = 200;

const JsonMember* last_named(const std::vector<JsonMember>& members, std::string_view name) {
  for (auto member = members.rbegin(); member != members.rend(); ++member) {
    if (member->key == name) return &*member;
  }
  return nullptr;
}

/// Tables keep lists as JSON texts.
bool looks_like_list(const JsonSlice& value) {
  const std::size_t first = value.text.find_first_not_of(" \t\r\n");
  return value.kind == JsonKind::string && first != std::string_view::npos && value.text[first] == '[';
}

/// Whether a column has the name of an instruction or an answer.
bool has_pair_column(const std::vector<JsonMember>& members) {
  for (const ColumnRole role : {ColumnRole::instruction, ColumnRole::input, ColumnRole::output}) {
    if (last_named(members, standard_name(role))) return true;
    for (const std::string_view name : other_names(role)) {
      if (last_named(members, name)) return true;
    }
  }
  return false;
}

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

/// A conversation is a list: a column of the name that holds something else is none.
bool can_be(ColumnRole role, const JsonMember& member) {
  if (role != ColumnRole::messages && role != ColumnRole::history) return true;
  if (member.value.kind == JsonKind::object && role == ColumnRole::messages) return true;  // lists by column
  return member.value.kind == JsonKind::array || looks_like_list(member.value);
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
  for (const std::string_view name : other_names(role)) {
    const JsonMember* member = last_named(members, name);
    if (member && can_be(role, *member)) candidates.push_back(name);
  }
  if (candidates.empty()) return nullptr;
  if (candidates.size() == 1) {
    bound_[index] = candidates.front();
    return last_named(members, candidates.front());
  }
  std::string text = "Which column is the " + std::string(role_word(role)) + " is not clear: ";
  for (const std::string_view name : candidates)
    text += (name == candidates.front() ? "" : ", ") + quoted(name);
  text += "; name it " + quoted(standard_name(role)) + ", or choose it with the setting columns";
  if (std::find(undecided_.begin(), undecided_.end(), text) == undecided_.end() && undecided_.size() < 10) {
    undecided_.push_back(text);
  }
  return nullptr;
}

ColumnMap::ColumnMap(ColumnChoice choice) : choice_(std::move(choice)) {
  chosen_ =
      std::any_of(choice_.begin(), choice_.end(), [](const std::string& name) { return !name.empty(); });
}

const JsonMember* ColumnMap::look(ColumnRole role, const std::vector<JsonMember>& members) {
  const auto i = static_cast<std::size_t>(role);
  if (chosen_) return choice_[i].empty() ? nullptr : last_named(members, choice_[i]);
  if (const JsonMember* member = last_named(members, standard_name(role)); member && can_be(role, *member)) {
    standard_seen_[i] = true;
    return member;
  }
  if (!bound_[i].empty()) return last_named(members, bound_[i]);
  return standard_seen_[i] ? nullptr : bind(role, members);
}

ColumnMap::Found ColumnMap::find(const std::vector<JsonMember>& members) {
  see(members);
  Found found{};
  const auto at = [&](ColumnRole role) -> const JsonMember*& {
    return found[static_cast<std::size_t>(role)];
  };
  const auto fill = [&](ColumnRole role) { at(role) = look(role, members); };
  const bool alpaca = !chosen_ && last_named(members, standard_name(ColumnRole::instruction)) &&
                      last_named(members, standard_name(ColumnRole::output));
  fill(ColumnRole::system);
  if (!alpaca) fill(ColumnRole::messages);
  if (at(ColumnRole::messages)) {
    fill(ColumnRole::tools);
    return found;
  }
  if (chosen_ || !has_pair_column(members)) fill(ColumnRole::text);
  if (!chosen_ && at(ColumnRole::text)) return found;
  fill(ColumnRole::instruction);
  fill(ColumnRole::input);
  fill(ColumnRole::output);
  fill(ColumnRole::history);
  if (at(ColumnRole::instruction) == at(ColumnRole::input)) at(ColumnRole::input) = nullptr;
  constexpr auto instruction = static_cast<std::size_t>(ColumnRole::instruction);
  if (!found[instruction] && at(ColumnRole::input) && !standard_seen_[instruction] && !chosen_) {
    std::swap(found[instruction], at(ColumnRole::input));  // rows of input and output alone
    if (bound_[instruction].empty()) bound_[instruction] = found[instruction]->key;
  }
  return found;
}

std::string ColumnMap::name_of(ColumnRole role) const {
  const auto i = static_cast<std::size_t>(role);
  if (chosen_) return choice_[i];
  if (!bound_[i].empty()) return bound_[i];
  return standard_seen_[i] ? std::string(standard_name(role)) : std::string();
}

bool ColumnMap::all_standard() const {
  return chosen_ ||
         std::all_of(bound_.begin(), bound_.end(), [](const std::string& name) { return name.empty(); });
}

std::vector<std::string> ColumnMap::warnings() const {
  std::vector<std::string> texts = undecided_;
  for (std::size_t i = 0; i < column_roles; ++i) {
    if (bound_[i].empty()) continue;
    const auto role = static_cast<ColumnRole>(i);
    if (role == ColumnRole::messages) continue;  // its other names are as usual as the standard one
    texts.push_back("The column " + quoted(bound_[i]) + " is read as the " + std::string(role_word(role)) +
                    ", since the rows have no column " + quoted(standard_name(role)));
  }
  return texts;
}

}  // namespace lorikeet
