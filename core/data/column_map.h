// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/data/json_scan.h"

namespace lorikeet {

/// The three texts of an instruction row.
enum class ColumnRole : std::uint8_t { instruction, input, output };
inline constexpr std::size_t column_roles = 3;

/// Which column of a file is which text. A column with the standard name always is that text. Where a file's
/// rows lack it, another usual name is taken for the rest of the file, provided that only one such column
/// stands in the row that decides. Nothing is guessed from contents.
class ColumnMap {
 public:
  using Found = std::array<const JsonMember*, column_roles>;

  /// Finds the three texts in a row; nullptr where there is none. Of equal keys the last counts, as in JSON
  /// readers.
  Found find(const std::vector<JsonMember>& members);

  /// Names seen, in order, at most max_listed_columns of them.
  const std::vector<std::string>& columns() const { return columns_; }
  /// One sentence for each column taken under another name, and for each choice that could not be made.
  std::vector<std::string> warnings() const;

 private:
  void see(const std::vector<JsonMember>& members);
  const JsonMember* bind(ColumnRole role, const std::vector<JsonMember>& members);

  std::vector<std::string> columns_;
  std::array<std::string, column_roles> bound_;  ///< the other name taken, "" = none yet
  std::array<bool, column_roles> standard_seen_{};
  std::vector<std::string> undecided_;
};

}  // namespace lorikeet
