// SPDX-License-Identifier: Apache-2.0
#include "core/library/library.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <chrono>
#include <filesystem>
#include <functional>
#include <random>

#include "core/library/schema.h"
#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

constexpr int busy_timeout_ms = 5000;
constexpr const char* adapter_columns =
    "adapter.id, \"group\", adapter.name, version, base_id, base.name, base.path, data_name, data_sha256, "
    "run_path, "
    "adapter.path, bytes, steps, loss, eval_loss, created_ms, trash_path FROM adapter JOIN base ON base.id = "
    "base_id ";

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// A random UUID, version 4.
std::string new_uuid() {
  std::random_device device;
  std::string text;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) text += '-';
    unsigned digit = device() & 15u;
    if (i == 12) digit = 4;
    if (i == 16) digit = 8 + (digit & 3u);
    text += "0123456789abcdef"[digit];
  }
  return text;
}

std::int64_t folder_bytes(const std::string& folder) {
  std::int64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored)) bytes += static_cast<std::int64_t>(entry->file_size(ignored));
  }
  return bytes;
}

std::string trash_name(const std::string& id) {
  return "trash/" + id;
}

/// One rename within a disk, else a copy that is removed when it is whole.
void move_folder(const std::string& from, const std::string& to) {
  std::error_code error;
  if (fs::exists(to, error)) {
    throw Error(ErrorCode::invalid_argument, "Something else lies where the adapter belongs", to,
                "Move it away first");
  }
  fs::create_directories(fs::path(to).parent_path(), error);
  fs::rename(from, to, error);
  if (error == std::errc::cross_device_link) {
    const std::string partial = to + ".partial";
    fs::remove_all(partial, error);
    fs::copy(from, partial, fs::copy_options::recursive, error);
    if (!error) fs::rename(partial, to, error);
    if (!error) fs::remove_all(from, error);
  }
  if (error) throw system_error("Cannot move the adapter", from, error.value());
}

}  // namespace

struct Library::Impl {
  explicit Impl(std::string the_home);

  /// Runs a piece of work with SQLite's errors turned into ours.
  template <typename Work>
  auto guarded(Work&& work) const;

  /// Adapters whose move to the trash was cut short: the record is still in the library, the files lie in the
  /// trash.
  void put_back() const;
  std::string stored_path(const std::string& path) const;
  std::string full_path(const std::string& stored) const;
  AdapterRecord read(SQLite::Statement& row) const;
  std::vector<AdapterRecord> query(const std::string& condition,
                                   const std::function<void(SQLite::Statement&)>& bind) const;

  std::string home;
  std::string path;
  std::unique_ptr<SQLite::Database> database;
};

template <typename Work>
auto Library::Impl::guarded(Work&& work) const {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    const int code = error.getErrorCode();
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
      throw Error(ErrorCode::locked, "The library stays busy", path,
                  "Close other Lorikeet windows and try again");
    }
    if (code == SQLITE_FULL)
      throw Error(ErrorCode::disk_full, "Cannot write the library, the disk is full", path,
                  "Free some space");
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
      throw Error(ErrorCode::bad_format, "The library is broken: " + std::string(error.what()), path,
                  "Move this file away; runs and adapters are safe in their folders and are found again");
    }
    throw Error(ErrorCode::io, "The library cannot be used: " + std::string(error.what()), path);
  }
}

Library::Impl::Impl(std::string the_home) : home(std::move(the_home)), path(home + "/library.db") {
  std::error_code error;
  fs::create_directories(home, error);
  if (error) throw system_error("Cannot make the folder", home, error.value());
  guarded([&] {
    database = std::make_unique<SQLite::Database>(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE,
                                                  busy_timeout_ms);
    database->exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    const std::string check = database->execAndGet("PRAGMA quick_check").getString();
    if (check != "ok") throw SQLite::Exception(check, SQLITE_CORRUPT);
    migrate_library(*database, path);
  });
  put_back();
}

void Library::Impl::put_back() const {
  for (const auto& record : query("WHERE trashed_ms IS NULL", {})) {
    std::error_code ignored;
    const std::string in_trash = home + "/" + trash_name(record.id);
    if (record.missing && fs::exists(in_trash, ignored) && !fs::exists(record.path, ignored))
      move_folder(in_trash, record.path);
  }
}

std::string Library::Impl::stored_path(const std::string& given) const {
  const fs::path relative =
      fs::path(given).lexically_normal().lexically_relative(fs::path(home).lexically_normal());
  const bool inside = !relative.empty() && *relative.begin() != "..";
  return inside ? relative.string() : fs::path(given).lexically_normal().string();
}

std::string Library::Impl::full_path(const std::string& stored) const {
  return fs::path(stored).is_absolute() ? stored : home + "/" + stored;
}

AdapterRecord Library::Impl::read(SQLite::Statement& row) const {
  AdapterRecord record;
  record.id = row.getColumn(0).getString();
  record.group = row.getColumn(1).getString();
  record.name = row.getColumn(2).getString();
  record.version = row.getColumn(3).getInt64();
  record.base_id = row.getColumn(4).getString();
  record.base_name = row.getColumn(5).getString();
  record.base_path = full_path(row.getColumn(6).getString());
  record.data_name = row.getColumn(7).getString();
  record.data_sha256 = row.getColumn(8).getString();
  record.run_path = full_path(row.getColumn(9).getString());
  const SQLite::Column trash = row.getColumn(16);
  record.path = full_path(trash.isNull() ? row.getColumn(10).getString() : trash.getString());
  record.bytes = row.getColumn(11).getInt64();
  record.steps = row.getColumn(12).getInt64();
  if (!row.getColumn(13).isNull()) record.loss = row.getColumn(13).getDouble();
  if (!row.getColumn(14).isNull()) record.eval_loss = row.getColumn(14).getDouble();
  record.created_ms = row.getColumn(15).getInt64();
  std::error_code ignored;
  record.missing = !fs::exists(record.path + "/adapter_config.json", ignored);
  return record;
}

std::vector<AdapterRecord> Library::Impl::query(const std::string& condition,
                                                const std::function<void(SQLite::Statement&)>& bind) const {
  return guarded([&] {
    SQLite::Statement statement(*database, std::string("SELECT ") + adapter_columns + condition);
    if (bind) bind(statement);
    std::vector<AdapterRecord> records;
    while (statement.executeStep()) records.push_back(read(statement));
    return records;
  });
}

Library::Library(const std::string& home) : impl_(std::make_unique<Impl>(home)) {}
Library::~Library() = default;

void Library::register_base(const BaseRecord& base) {
  impl_->guarded([&] {
    SQLite::Statement statement(
        *impl_->database,
        "INSERT INTO base (id, name, path, family, parameters) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT (id) DO UPDATE SET name = excluded.name, path = excluded.path");
    statement.bind(1, base.id);
    statement.bind(2, base.name);
    statement.bind(3, impl_->stored_path(base.path));
    statement.bind(4, base.family);
    statement.bind(5, base.parameters);
    statement.exec();
  });
}

AdapterRecord Library::register_adapter(AdapterRecord adapter) {
  const std::string stored = impl_->stored_path(adapter.path);
  impl_->guarded([&] {
    // Immediate: the next version number must not be taken by another process between reading and writing it.
    SQLite::Transaction transaction(*impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement known(*impl_->database, "SELECT id FROM adapter WHERE path = ?");
    known.bind(1, stored);
    if (known.executeStep()) {
      adapter.id = known.getColumn(0).getString();
      SQLite::Statement update(
          *impl_->database, "UPDATE adapter SET bytes = ?, steps = ?, loss = ?, eval_loss = ? WHERE id = ?");
      update.bind(1, folder_bytes(adapter.path));
      update.bind(2, adapter.steps);
      adapter.loss ? update.bind(3, *adapter.loss) : update.bind(3);
      adapter.eval_loss ? update.bind(4, *adapter.eval_loss) : update.bind(4);
      update.bind(5, adapter.id);
      update.exec();
      transaction.commit();
      return;
    }
    SQLite::Statement last(*impl_->database,
                           "SELECT COALESCE(MAX(version), 0) FROM adapter WHERE \"group\" = ?");
    last.bind(1, adapter.group);
    last.executeStep();
    adapter.id = new_uuid();
    SQLite::Statement insert(
        *impl_->database,
        "INSERT INTO adapter (id, \"group\", name, version, base_id, data_name, data_sha256, run_path, "
        "path, bytes, steps, loss, eval_loss, created_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
    insert.bind(1, adapter.id);
    insert.bind(2, adapter.group);
    insert.bind(3, adapter.name);
    insert.bind(4, last.getColumn(0).getInt64() + 1);
    insert.bind(5, adapter.base_id);
    insert.bind(6, adapter.data_name);
    insert.bind(7, adapter.data_sha256);
    insert.bind(8, impl_->stored_path(adapter.run_path));
    insert.bind(9, stored);
    insert.bind(10, folder_bytes(adapter.path));
    insert.bind(11, adapter.steps);
    adapter.loss ? insert.bind(12, *adapter.loss) : insert.bind(12);
    adapter.eval_loss ? insert.bind(13, *adapter.eval_loss) : insert.bind(13);
    insert.bind(14, adapter.created_ms > 0 ? adapter.created_ms : now_ms());
    insert.exec();
    transaction.commit();
  });
  return *find(adapter.id);
}

std::vector<AdapterRecord> Library::adapters() const {
  return impl_->query("WHERE trashed_ms IS NULL ORDER BY created_ms DESC, version DESC", {});
}

std::vector<BaseRecord> Library::bases() const {
  return impl_->guarded([&] {
    SQLite::Statement statement(*impl_->database,
                                "SELECT id, name, path, family, parameters FROM base ORDER BY name");
    std::vector<BaseRecord> records;
    while (statement.executeStep()) {
      records.push_back({statement.getColumn(0).getString(), statement.getColumn(1).getString(),
                         impl_->full_path(statement.getColumn(2).getString()),
                         statement.getColumn(3).getString(), statement.getColumn(4).getInt64()});
    }
    return records;
  });
}

std::optional<AdapterRecord> Library::find(const std::string& id_or_name) const {
  auto records = impl_->query(
      "WHERE adapter.id = ? OR adapter.name = ? ORDER BY adapter.id = ? DESC, created_ms DESC LIMIT 1",
      [&](SQLite::Statement& statement) {
        for (int i = 1; i <= 3; ++i) statement.bind(i, id_or_name);
      });
  if (records.empty()) return std::nullopt;
  return std::move(records.front());
}

void Library::rename(const std::string& id, const std::string& name) {
  if (name.find_first_not_of(" \t\n") == std::string::npos) {
    throw Error(ErrorCode::invalid_argument, "A name needs at least one letter", "name");
  }
  impl_->guarded([&] {
    SQLite::Statement statement(*impl_->database, "UPDATE adapter SET name = ? WHERE id = ?");
    statement.bind(1, name);
    statement.bind(2, id);
    if (statement.exec() == 0)
      throw Error(ErrorCode::not_found, "There is no such adapter in the library", id);
  });
}

void Library::move_to_trash(const std::string& id) {
  const auto record = find(id);
  if (!record) throw Error(ErrorCode::not_found, "There is no such adapter in the library", id);
  impl_->guarded([&] {
    SQLite::Transaction transaction(*impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement statement(*impl_->database,
                                "UPDATE adapter SET trashed_ms = ?, trash_path = ? WHERE id = ?");
    statement.bind(1, now_ms());
    if (record->missing)
      statement.bind(2);
    else
      statement.bind(2, trash_name(record->id));
    statement.bind(3, record->id);
    statement.exec();
    // Between the move and the commit a crash leaves the files in the trash and the record as it was:
    // put_back mends that.
    if (!record->missing) move_folder(record->path, impl_->home + "/" + trash_name(record->id));
    transaction.commit();
  });
}

void Library::restore_from_trash(const std::string& id) {
  impl_->guarded([&] {
    SQLite::Transaction transaction(*impl_->database, SQLite::TransactionBehavior::IMMEDIATE);
    SQLite::Statement statement(
        *impl_->database, "SELECT path, trash_path FROM adapter WHERE id = ? AND trashed_ms IS NOT NULL");
    statement.bind(1, id);
    if (!statement.executeStep())
      throw Error(ErrorCode::not_found, "There is no such adapter in the trash", id);
    const std::string target = impl_->full_path(statement.getColumn(0).getString());
    const bool has_files = !statement.getColumn(1).isNull();
    const std::string from = has_files ? impl_->full_path(statement.getColumn(1).getString()) : "";
    statement.reset();
    SQLite::Statement update(*impl_->database,
                             "UPDATE adapter SET trashed_ms = NULL, trash_path = NULL WHERE id = ?");
    update.bind(1, id);
    update.exec();
    if (has_files) move_folder(from, target);
    transaction.commit();
  });
}

std::vector<AdapterRecord> Library::trash() const {
  return impl_->query("WHERE trashed_ms IS NOT NULL ORDER BY trashed_ms DESC", {});
}

}  // namespace lorikeet
