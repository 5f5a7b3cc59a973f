// SPDX-License-Identifier: Apache-2.0
#include "core/library/schema.h"

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

/// Statements that lead from version i to i + 1. Never edited once released: a new version is added instead.
constexpr const char* steps[] = {
    R"sql(
CREATE TABLE base (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  path TEXT NOT NULL,
  family TEXT NOT NULL,
  parameters INTEGER NOT NULL
) STRICT;
CREATE TABLE adapter (
  id TEXT PRIMARY KEY,
  "group" TEXT NOT NULL,
  name TEXT NOT NULL,
  version INTEGER NOT NULL,
  base_id TEXT NOT NULL REFERENCES base(id),
  data_name TEXT NOT NULL,
  data_sha256 TEXT NOT NULL,
  run_path TEXT NOT NULL,
  path TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL,
  steps INTEGER NOT NULL,
  loss REAL,
  eval_loss REAL,
  created_ms INTEGER NOT NULL,
  trashed_ms INTEGER,
  trash_path TEXT,
  UNIQUE ("group", version)
) STRICT;
)sql",
};
static_assert(std::size(steps) == library_schema_version);

}  // namespace

void migrate_library(SQLite::Database& database, const std::string& path) {
  const int version = database.execAndGet("PRAGMA user_version").getInt();
  if (version > library_schema_version) {
    throw Error(ErrorCode::unsupported, "The library was written by a newer Lorikeet", path,
                "Update Lorikeet");
  }
  if (version == library_schema_version) return;
  if (version > 0) {
    const std::string copy = path + ".v" + std::to_string(version);
    std::error_code ignored;
    std::filesystem::remove(copy, ignored);  // VACUUM INTO does not overwrite
    SQLite::Statement statement(database, "VACUUM INTO ?");
    statement.bind(1, copy);
    statement.exec();
  }
  // Immediate: two programs that start together must not both migrate.
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  for (int step = database.execAndGet("PRAGMA user_version").getInt(); step < library_schema_version;
       ++step) {
    database.exec(steps[step]);
    database.exec("PRAGMA user_version = " + std::to_string(step + 1));
  }
  transaction.commit();
}

}  // namespace lorikeet
