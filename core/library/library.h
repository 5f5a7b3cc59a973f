// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace lorikeet {

/// A base model known to the library, once per content.
struct BaseRecord {
  std::string id;  ///< base id (design.md §10)
  std::string name;
  std::string path;
  std::string family;
  std::int64_t parameters = 0;
};

/// One version of an adapter under its group "base + data".
struct AdapterRecord {
  std::string id;            ///< UUID
  std::string group;         ///< "base name + data name"
  std::string name;          ///< for people; may be renamed
  std::int64_t version = 1;  ///< counts up within the group
  std::string base_id, base_name, base_path;
  std::string data_name, data_sha256;
  std::string run_path;
  std::string path;  ///< adapter folder; relative to home where it lies inside
  std::int64_t bytes = 0;
  std::int64_t steps = 0;
  std::optional<double> loss, eval_loss;
  std::int64_t created_ms = 0;  ///< UTC milliseconds
  bool missing = false;         ///< its files are not there any more
};

/// The library of bases and adapters: SQLite (WAL, foreign keys) in the home folder. One instance per
/// process.
class Library {
 public:
  /// Opens or makes library.db in `home`, checks it and brings it to the newest schema (a copy is kept
  /// before). Throws Error(bad_format) when it is broken, Error(locked) when it stays busy for 5 s.
  explicit Library(const std::string& home);
  ~Library();

  void register_base(const BaseRecord& base);
  /// Adds an adapter as the next version of its group; registering the same folder again returns the record
  /// it has.
  AdapterRecord register_adapter(AdapterRecord adapter);
  std::vector<AdapterRecord> adapters() const;  ///< newest first, without those in the trash
  std::vector<BaseRecord> bases() const;
  std::optional<AdapterRecord> find(const std::string& id_or_name) const;
  void rename(const std::string& id, const std::string& name);
  /// Moves the adapter's files into home/trash and hides it; kept there for 30 days.
  void move_to_trash(const std::string& id);
  void restore_from_trash(const std::string& id);
  std::vector<AdapterRecord> trash() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Registers the finished adapter of a run: base, data and losses are read from its job.json and
/// events.jsonl.
AdapterRecord register_run(Library& library, const std::string& run_path);

/// Base models on this machine: folders and GGUF files under the Hugging Face cache (HF_HUB_CACHE, HF_HOME,
/// default) and under home/models; each is a path that read_model_spec can open, with a name for people.
struct FoundModel {
  std::string name;
  std::string path;
};
std::vector<FoundModel> find_base_models();

}  // namespace lorikeet
