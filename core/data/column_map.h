// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "core/data/json_scan.h"
#include "core/data/known_columns.h"

namespace lorikeet {

/// Which column of a file has which role. A column that a person chose counts, and only that one. Else a
/// column with the standard name always has its role. Where a file's rows lack it, another usual name is
/// taken for the rest of the file, provided that only one such column stands in the row that decides. Nothing
/// is guessed from contents.
class ColumnMap {
 public:
  using Found = std::array<const JsonMember*, column_roles>;

  ColumnMap() = default;
  explicit ColumnMap(ColumnChoice choice);

  /// Finds the columns of a row; nullptr where there is none. Of equal keys the last counts, as in JSON
  /// readers. A row has instruction and output, or messages, or text.
  Found find(const std::vector<JsonMember>& members);

  bool chosen() const { return chosen_; }
  /// The column that has this role, "" when none was met.
  std::string name_of(ColumnRole role) const;
  /// Whether every column in use has its standard name or was chosen.
  bool all_standard() const;

  /// Names seen, in order, at most max_listed_columns of them.
  const std::vector<std::string>& columns() const { return columns_; }
  /// One sentence for each column taken under another name, and for each choice that could not be made.
  std::vector<std::string> warnings() const;

 private:
  void see(const std::vector<JsonMember>& members);
  const JsonMember* look(ColumnRole role, const std::vector<JsonMember>& members);
  const JsonMember* bind(ColumnRole role, const std::vector<JsonMember>& members);

  ColumnChoice choice_;
  bool chosen_ = false;
  std::vector<std::string> columns_;
  std::array<std::string, column_roles> bound_;  ///< the other name taken, "" = none yet
  std::array<bool, column_roles> standard_seen_{};
  std::vector<std::string> undecided_;
};

}  // namespace lorikeet
