// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lorikeet {

class RunFolder;

/// Writes a checkpoint folder so that it is either complete or not there: everything goes into a temporary
/// folder beside it, manifest.json (step; name, size and SHA-256 of every file) last, then one rename.
class CheckpointWriter {
 public:
  /// `target` is the final folder; its parent must exist.
  explicit CheckpointWriter(std::string target);
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;
  ~CheckpointWriter();  ///< removes the temporary folder when not committed

  const std::string& folder() const { return temporary_; }
  void add_file(const std::string& name, const std::vector<char>& content);
  /// Hashes what lies in the folder, writes the manifest, renames, and reads the manifest back.
  void commit(std::int64_t step);

 private:
  std::string target_;
  std::string temporary_;
};

/// Throws Error(bad_format) naming the file that is missing, has another size or another hash than
/// manifest.json says.
void verify_checkpoint(const std::string& folder);

/// The newest complete checkpoint of a run, "" when none. Broken ones and left-over temporary folders are
/// moved to checkpoints/broken/.
std::string newest_checkpoint(const RunFolder& run);

/// Removes the oldest complete checkpoints beyond `keep`, never one of `protect` (paths; "" is none).
void remove_old_checkpoints(const RunFolder& run, std::int64_t keep, const std::vector<std::string>& protect);

}  // namespace lorikeet
