// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/atomic_folder.h"

namespace lorikeet {

class RunFolder;

/// Writes a checkpoint folder so that it is either complete or not there: everything goes into a temporary
/// folder beside it, manifest.json (step; name, size and SHA-256 of every file) last, then one rename, which
/// replaces a checkpoint of the same step. Without commit() nothing stays.
class CheckpointWriter {
 public:
  /// `target` is the final folder; its parent is made.
  explicit CheckpointWriter(const std::string& target) : folder_(target) {}

  const std::string& folder() const { return folder_.folder(); }
  void add_file(const std::string& name, const std::vector<char>& content);
  /// Hashes what lies in the folder, writes the manifest and renames.
  void commit(std::int64_t step);

 private:
  AtomicFolder folder_;
};

/// Throws Error(bad_format) naming the file that is missing, has another size or another hash than
/// manifest.json says, Error(io) when it cannot be read at all.
void verify_checkpoint(const std::string& folder);

/// The newest complete checkpoint of a run, "" when none. What is not one is put away: broken folders are
/// moved to checkpoints/broken/, half-written ones of a killed engine removed; `findings` gets a sentence
/// about each. Throws Error(io) when a checkpoint cannot be read, which does not mean that it is broken. For
/// who holds the run's lock.
std::string newest_checkpoint(const RunFolder& run, std::vector<std::string>* findings = nullptr);

/// Removes the oldest complete checkpoints beyond `keep`, never one of `protect` (paths; "" is none).
void remove_old_checkpoints(const RunFolder& run, std::int64_t keep, const std::vector<std::string>& protect);

}  // namespace lorikeet
