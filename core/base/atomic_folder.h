// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/base/files.h"

namespace lorikeet {

/// A folder that appears under its name only when complete: files are written into a temporary folder beside
/// it, then one rename. Without commit() the destructor removes the temporary folder, which is locked
/// meanwhile; what killed writers of the same target left is removed first.
class AtomicFolder {
 public:
  /// `target`'s parents are made. The files written into folder() have to be synced by their writers.
  explicit AtomicFolder(std::string target);
  AtomicFolder(const AtomicFolder&) = delete;
  AtomicFolder& operator=(const AtomicFolder&) = delete;
  ~AtomicFolder();

  const std::string& folder() const { return temporary_; }
  /// Puts the folder in place. An existing folder there that is not empty is replaced in one step with
  /// `replace`, else Error(invalid_argument) is thrown.
  void commit(bool replace);

 private:
  std::string target_;
  std::string temporary_;
  OwnedDescriptor held_;
};

/// Copies a file's content into a new file that survives a power cut.
void copy_file_synced(const std::string& from, const std::string& to);

}  // namespace lorikeet
