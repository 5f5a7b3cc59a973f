// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace SQLite {
class Database;
}

namespace lorikeet {

/// Newest version of library.db's schema (PRAGMA user_version).
inline constexpr int library_schema_version = 1;

/// Brings an open database to the newest schema, one version after the other, each in one transaction. A copy
/// of a database of an older version is kept as <path>.v<version> first. Throws Error(unsupported) for a
/// newer one.
void migrate_library(SQLite::Database& database, const std::string& path);

}  // namespace lorikeet
