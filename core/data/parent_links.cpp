// SPDX-License-Identifier: Apache-2.0
#include "core/data/parent_links.h"

#include <algorithm>
#include <functional>

namespace lorikeet {
namespace {

constexpr std::size_t listed_rows = 10;

const JsonMember* named(const std::vector<JsonMember>& members, std::string_view name) {
  const auto member =
      std::find_if(members.begin(), members.end(), [&](const JsonMember& one) { return one.key == name; });
  return member == members.end() ? nullptr : &*member;
}

}  // namespace

void ParentLinks::add(std::int64_t number, const std::vector<JsonMember>& members) {
  if (links_.size() >= max_rows) return;
  const JsonMember* parent = named(members, "parent_id");
  if (!parent || parent->value.kind == JsonKind::null || parent->value.text.empty()) return;
  const JsonMember* id = named(members, "id");
  if (!id) id = named(members, "message_id");
  if (!id) return;
  const std::hash<std::string_view> hash;
  links_.emplace(hash(id->value.text), Link{number, hash(parent->value.text)});
}

std::vector<std::string> ParentLinks::warnings() const {
  if (links_.empty()) return {};
  std::vector<std::int64_t> rows;
  std::unordered_map<std::size_t, std::size_t> walk_of;  // which walk came by first
  for (const auto& [start, link] : links_) {
    std::vector<std::size_t> path;
    std::size_t at = start;
    while (links_.contains(at) && walk_of.emplace(at, start).second) {
      path.push_back(at);
      at = links_.at(at).parent;
    }
    const auto meeting = std::find(path.begin(), path.end(), at);  // this walk's own way: a circle
    for (auto one = meeting; one != path.end(); ++one) rows.push_back(links_.at(*one).number);
  }
  std::vector<std::string> texts = {"The column \"parent_id\" is not followed: each row stands for itself"};
  if (rows.empty()) return texts;
  std::sort(rows.begin(), rows.end());
  std::string text = "The row is its own ancestor by parent_id: ";
  text += rows.size() == 1 ? "row" : std::to_string(rows.size()) + " rows,";
  for (std::size_t i = 0; i < rows.size() && i < listed_rows; ++i)
    text += (i > 0 ? ", " : " ") + std::to_string(rows[i]);
  texts.push_back(rows.size() > listed_rows ? text + ", ..." : text);
  return texts;
}

}  // namespace lorikeet
