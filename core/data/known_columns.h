// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lorikeet {

/// What a column can be to a row.
enum class ColumnRole : std::uint8_t { instruction, input, output, system, history, messages, text, tools };
inline constexpr std::size_t column_roles = 8;

/// As in the setting `columns`, for example "instruction".
std::string_view role_name(ColumnRole role);
/// As in sentences, for example "answer" for output.
std::string_view role_word(ColumnRole role);
/// The name that always means this role.
std::string_view standard_name(ColumnRole role);
/// Other names in use for it.
const std::vector<std::string_view>& other_names(ColumnRole role);
/// Whether a column of this name, in whatever letter case, is a row's text under any role.
bool is_known_column(std::string_view name);

/// Names of columns given by a person, one a role, "" = not given.
using ColumnChoice = std::array<std::string, column_roles>;

/// Reads "instruction=question,output=answer" ("" and "auto": nothing is given). A name may stand in double
/// quotes. Throws Error(invalid_argument) for unknown roles, repeated roles, missing names, or columns that
/// make no row.
ColumnChoice parse_columns(std::string_view setting);

}  // namespace lorikeet
