// SPDX-License-Identifier: Apache-2.0
#include "core/data/seen_rows.h"

#include <functional>
#include <string_view>

namespace lorikeet {
namespace {

std::uint64_t mixed(std::uint64_t so_far, std::string_view text) {
  constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
  so_far = (so_far ^ std::hash<std::string_view>{}(text)) * odd;
  return so_far ^ so_far >> 32;
}

std::uint64_t hash_of(const InstructionRow& row) {
  std::uint64_t key = static_cast<std::uint64_t>(row.kind) + 1;
  key = mixed(key, row.instruction);
  key = mixed(key, row.input);
  key = mixed(key, row.output);
  for (const Message& message : row.messages)
    key = mixed(mixed(key, message.role), message.content) + (message.trained ? 0 : 1);
  return key | 1;
}

}  // namespace

bool SeenRows::add(const InstructionRow& row) {
  if (is_full()) return false;
  if ((count_ + 1) * 2 > slots_.size()) {
    std::vector<std::uint64_t> old = std::move(slots_);
    slots_.assign(old.empty() ? 1024 : old.size() * 2, 0);
    count_ = 0;
    for (const std::uint64_t key : old) {
      if (key != 0) insert(key);
    }
  }
  return !insert(hash_of(row));
}

/// False when the key is there already.
bool SeenRows::insert(std::uint64_t key) {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t i = (key >> 1) & mask;; i = (i + 1) & mask) {
    if (slots_[i] == key) return false;
    if (slots_[i] != 0) continue;
    slots_[i] = key;
    ++count_;
    return true;
  }
}

}  // namespace lorikeet
