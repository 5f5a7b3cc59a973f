// SPDX-License-Identifier: Apache-2.0
#include "core/base/files.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>
#include <vector>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

constexpr std::string_view temporary_mark = ".tmp-";

/// prefix, digits, "-", digits, perhaps aside_mark.
bool is_temporary_name(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) return false;
  name.remove_prefix(prefix.size());
  if (name.ends_with(aside_mark)) name.remove_suffix(aside_mark.size());
  const auto digits = [&] {
    std::size_t count = 0;
    while (count < name.size() && name[count] >= '0' && name[count] <= '9') ++count;
    name.remove_prefix(count);
    return count > 0;
  };
  if (!digits() || !name.starts_with("-")) return false;
  name.remove_prefix(1);
  return digits() && name.empty();
}

}  // namespace

bool hold_temporary(const OwnedDescriptor& temporary) {
  struct stat info {};
  // Where locks are not known (some network disks) nobody can take it from us either.
  if (::flock(temporary.value(), LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  return ::fstat(temporary.value(), &info) == 0 && info.st_nlink > 0;
}

OwnedDescriptor& OwnedDescriptor::operator=(OwnedDescriptor&& other) noexcept {
  std::swap(value_, other.value_);
  return *this;
}

OwnedDescriptor::~OwnedDescriptor() {
  if (value_ >= 0) ::close(value_);
}

std::string read_file(const std::string& path, std::uint64_t max_bytes) {
  OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) throw system_error("Cannot open", path, errno);
  struct stat info {};
  if (::fstat(file.value(), &info) != 0) throw system_error("Cannot read", path, errno);
  if (S_ISDIR(info.st_mode)) throw Error(ErrorCode::io, "Cannot read a folder as a file", path);
  std::string content;
  const auto size = static_cast<std::uint64_t>(info.st_size);
  if (size > max_bytes) {
    throw Error(ErrorCode::bad_format,
                "The file has " + std::to_string(size) + " bytes, more than the " +
                    std::to_string(max_bytes) + " allowed",
                path);
  }
  content.reserve(size);
  char buffer[1 << 16];
  for (;;) {
    const ssize_t got = ::read(file.value(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw system_error("Cannot read", path, errno);
    if (got == 0) break;
    content.append(buffer, static_cast<std::size_t>(got));
    if (content.size() > max_bytes)
      throw Error(ErrorCode::bad_format, "The file is larger than allowed", path);
  }
  return content;
}

void write_file_atomically(const std::string& path, std::string_view content) {
  AtomicFile file(path);
  file.write(content);
  file.commit();
}

std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> counter{0};
  return target + temporary_mark.data() + std::to_string(::getpid()) + "-" + std::to_string(counter++);
}

void remove_left_overs(const std::string& target) {
  const std::string prefix = fs::path(target).filename().string() + temporary_mark.data();
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder_of(target), error), end; !error && entry != end;
       entry.increment(error)) {
    if (is_temporary_name(entry->path().filename().string(), prefix)) found.push_back(entry->path());
  }
  for (const fs::path& left : found) {
    // Not through links, and without waiting for whoever reads a pipe.
    const OwnedDescriptor file(::open(left.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file.value() < 0 || ::flock(file.value(), LOCK_EX | LOCK_NB) != 0) continue;
    std::error_code ignored;
    if (left.string().ends_with(aside_mark) && !fs::exists(fs::symlink_status(target, ignored))) {
      fs::rename(left, target, ignored);
    } else {
      fs::remove_all(left, ignored);
    }
  }
}

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)) {
  do {
    temporary_ = temporary_name(path_);
    descriptor_ = OwnedDescriptor(::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    // A left-over of a process that had our number is in the way: take the next name.
    if (descriptor_.value() < 0 && errno != EEXIST) throw system_error("Cannot write", path_, errno);
  } while (descriptor_.value() < 0 || !hold_temporary(descriptor_));
}

AtomicFile::~AtomicFile() {
  if (descriptor_.value() >= 0) ::unlink(temporary_.c_str());
}

void AtomicFile::write(const void* data, std::size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::write(descriptor_.value(), from, bytes);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw system_error("Cannot write", path_, errno);
    from += written;
    bytes -= static_cast<std::size_t>(written);
  }
}

void AtomicFile::commit() {
  if (::fsync(descriptor_.value()) != 0) throw system_error("Cannot write", path_, errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) throw system_error("Cannot write", path_, errno);
  descriptor_ = OwnedDescriptor();
  sync_folder(folder_of(path_));
}

void sync_folder(const std::string& folder) {
  OwnedDescriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.value() < 0) throw system_error("Cannot open", folder, errno);
  // Some file systems (network, FUSE) cannot sync a folder; then the rename itself is all that can be had.
  if (::fsync(directory.value()) != 0 && errno != EINVAL && errno != ENOTSUP) {
    throw system_error("Cannot write", folder, errno);
  }
}

MappedFile::MappedFile(const std::string& path) {
  OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) throw system_error("Cannot open", path, errno);
  struct stat info {};
  if (::fstat(file.value(), &info) != 0) throw system_error("Cannot read", path, errno);
  if (!S_ISREG(info.st_mode)) throw Error(ErrorCode::io, "Not a regular file", path);
  size_ = static_cast<std::size_t>(info.st_size);
  if (size_ == 0) return;  // an empty map is an error to mmap, an empty file is not
  void* data = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.value(), 0);
  if (data == MAP_FAILED) throw system_error("Cannot map", path, errno);
  data_ = static_cast<const std::byte*>(data);
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

MappedFile::~MappedFile() {
  if (data_) ::munmap(const_cast<std::byte*>(data_), size_);
}

void MappedFile::forget(std::size_t first, std::size_t count) const noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t begin = (first + page - 1) / page * page;
  const std::size_t end = (first + count) / page * page;
  if (data_ && end > begin && end <= size_) {
    ::madvise(const_cast<std::byte*>(data_) + begin, end - begin, MADV_DONTNEED);
  }
}

FileLock::FileLock(const std::string& path, std::string_view content) {
  OwnedDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file.value() < 0) throw system_error("Cannot open", path, errno);
  if (::flock(file.value(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) throw system_error("Cannot lock", path, errno);
    throw Error(ErrorCode::locked, "Another process is using this (" + read_file(path, 4096) + ")", path,
                "Wait until it has finished, or stop it");
  }
  if (::ftruncate(file.value(), 0) != 0 ||
      ::write(file.value(), content.data(), content.size()) != static_cast<ssize_t>(content.size())) {
    throw system_error("Cannot write", path, errno);
  }
  descriptor_ = std::move(file);
}

bool FileLock::is_held(const std::string& path) {
  OwnedDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.value() < 0) return false;
  // A shared lock is refused exactly while somebody holds the exclusive one, and two askers do not disturb
  // each other.
  if (::flock(file.value(), LOCK_SH | LOCK_NB) == 0) return false;
  return errno == EWOULDBLOCK;
}

bool is_safe_relative_name(std::string_view name) {
  if (name.empty() || name.find('\0') != std::string_view::npos || name.find('\\') != std::string_view::npos)
    return false;
  if (name.find(':') != std::string_view::npos) return false;
  const fs::path path{std::string(name)};
  if (path.is_absolute()) return false;
  for (const auto& part : path) {
    if (part == ".." || part == "." || part.empty()) return false;
  }
  return true;
}

std::uint64_t disk_free_bytes(const std::string& path) {
  fs::path place = fs::absolute(path);
  std::error_code ignored;
  while (!fs::exists(place, ignored) && place.has_relative_path()) place = place.parent_path();
  struct statvfs info {};
  if (::statvfs(place.c_str(), &info) != 0)
    throw system_error("Cannot ask for the free space", place.string(), errno);
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

std::string home_folder() {
  if (const char* home = std::getenv("LORIKEET_HOME"); home && *home) return home;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data) return std::string(data) + "/lorikeet";
  const char* user = std::getenv("HOME");
  return std::string(user && *user ? user : ".") + "/.local/share/lorikeet";
}

}  // namespace lorikeet
