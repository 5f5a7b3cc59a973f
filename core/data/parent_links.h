// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/data/json_scan.h"

namespace lorikeet {

/// Looks at the columns id and parent_id of message trees. They are not followed, each row stands for itself;
/// rows that are their own ancestors are found, whatever their number, without following anything twice.
class ParentLinks {
 public:
  /// Rows beyond this many are not looked at.
  static constexpr std::size_t max_rows = 1'000'000;

  void add(std::int64_t number, const std::vector<JsonMember>& members);
  /// What a person should know; empty when there are no such columns.
  std::vector<std::string> warnings() const;

 private:
  struct Link {
    std::int64_t number = 0;
    std::size_t parent = 0;  ///< hash of the parent's id
  };
  std::unordered_map<std::size_t, Link> links_;  ///< by hash of the id
};

}  // namespace lorikeet
