// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace lorikeet {

/// Whole file as bytes. Throws Error naming the path; a file larger than `max_bytes` is refused.
std::string read_file(const std::string& path, std::uint64_t max_bytes = UINT64_MAX);

/// Replaces `path` so that after a crash or power cut either the old or the new content is there: a temporary
/// name in the same folder, write, fsync, rename, fsync of the folder. Throws Error(disk_full | io); the old
/// file then stands.
void write_file_atomically(const std::string& path, std::string_view content);

/// Owner of a POSIX file descriptor; -1 = none.
class OwnedDescriptor {
 public:
  explicit OwnedDescriptor(int value = -1) : value_(value) {}
  OwnedDescriptor(OwnedDescriptor&& other) noexcept : value_(other.release()) {}
  OwnedDescriptor& operator=(OwnedDescriptor&& other) noexcept;
  ~OwnedDescriptor();

  int value() const { return value_; }
  int release() {
    const int value = value_;
    value_ = -1;
    return value;
  }

 private:
  int value_;
};

/// The same for large files, written in pieces. Without commit() the destructor removes the temporary file,
/// which is locked meanwhile (remove_left_overs).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(const void* data, std::size_t bytes);
  void write(std::string_view text) { write(text.data(), text.size()); }
  void commit();  ///< fsync, rename, fsync of the folder

 private:
  std::string path_;
  std::string temporary_;
  OwnedDescriptor descriptor_;
};

/// A name for a temporary file or folder beside `target` that no other writer has:
/// "<target>.tmp-<process>-<count>".
std::string temporary_name(const std::string& target);

/// Locks a temporary file or folder that was just made, until the descriptor is closed; false when a cleaner
/// was faster and took it away: then another one has to be made.
bool hold_temporary(const OwnedDescriptor& temporary);
/// Ends the name of the old folder while an AtomicFolder is put in its place where the file system knows no
/// exchange.
inline constexpr std::string_view aside_mark = "-old";

/// Removes what writers of `target` that were killed left beside it. A living writer holds a lock on its
/// temporary file or folder, and that stays. Where a kill came between the two renames of an AtomicFolder,
/// the old folder gets its name back.
void remove_left_overs(const std::string& target);

/// fsync of a folder, so that names made or renamed in it survive a power cut.
void sync_folder(const std::string& folder);

/// A read-only memory map of a file. The file must not be cut while it is mapped.
class MappedFile {
 public:
  MappedFile() = default;  ///< of nothing
  explicit MappedFile(const std::string& path);
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;
  ~MappedFile();

  std::span<const std::byte> bytes() const { return {data_, size_}; }
  std::string_view text() const { return {reinterpret_cast<const char*>(data_), size_}; }
  /// Tells the system that these bytes will not be read again soon, so that streaming a large file keeps
  /// memory low.
  void forget(std::size_t first, std::size_t count) const noexcept;

 private:
  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An exclusive advisory lock on a file, held until destruction; released by the system when the process
/// dies.
class FileLock {
 public:
  /// Takes the lock and writes `content` (for example pid and start time) into the file.
  /// Throws Error(locked) quoting the file's content when another process holds it.
  FileLock(const std::string& path, std::string_view content);
  /// Whether some process holds the lock of this file now; false when the file does not exist.
  static bool is_held(const std::string& path);

 private:
  OwnedDescriptor descriptor_;
};

/// True if `name`, found inside a file, stays inside its folder: relative, no "..", no drive, not empty, no
/// NUL.
bool is_safe_relative_name(std::string_view name);

/// Free bytes on the disk that holds `path` (its nearest existing parent).
std::uint64_t disk_free_bytes(const std::string& path);

/// LORIKEET_HOME, else the XDG data folder's lorikeet/; not created.
std::string home_folder();

}  // namespace lorikeet
