// SPDX-License-Identifier: Apache-2.0
#include "core/base/atomic_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "kernels/base/error.h"

namespace lorikeet {
namespace {

namespace fs = std::filesystem;

std::string without_last_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

}  // namespace

AtomicFolder::AtomicFolder(std::string target) : target_(without_last_slash(std::move(target))) {
  std::error_code error;
  const fs::path parent = fs::path(target_).parent_path();
  if (!parent.empty()) fs::create_directories(parent, error);
  if (error) throw system_error("Cannot make the folder", parent.string(), error.value());
  remove_left_overs(target_);
  do {
    temporary_ = temporary_name(target_);
    if (!fs::create_directory(temporary_, error)) {
      if (error) throw system_error("Cannot make the folder", temporary_, error.value());
      continue;  // a left-over of a process that had our number
    }
    held_ = OwnedDescriptor(::open(temporary_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (held_.value() < 0) {
      const int why = errno;
      if (why == ENOENT) continue;
      fs::remove(temporary_, error);
      throw system_error("Cannot make the folder", temporary_, why);
    }
  } while (held_.value() < 0 || !hold_temporary(held_));
}

AtomicFolder::~AtomicFolder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
}

void AtomicFolder::commit(bool replace) {
  const fs::path parent = fs::path(target_).parent_path();
  sync_folder(temporary_);
  std::error_code error;
  const bool occupied = fs::exists(fs::symlink_status(target_, error)) && !fs::is_empty(target_, error);
  if (occupied && !replace) {
    throw Error(ErrorCode::invalid_argument, "The folder is there already and is not empty", target_,
                "Choose another name");
  }
  if (!occupied) {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0)
      throw system_error("Cannot write", target_, errno);
    temporary_.clear();
  } else if (::renameat2(AT_FDCWD, temporary_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) != 0) {
    if (errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
      throw system_error("Cannot write", target_, errno);
    // File systems without an exchange: the old folder steps aside first.
    const std::string aside = temporary_ + std::string(aside_mark);
    if (::rename(target_.c_str(), aside.c_str()) != 0) throw system_error("Cannot write", target_, errno);
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
      const int why = errno;
      ::rename(aside.c_str(), target_.c_str());
      throw system_error("Cannot write", target_, why);
    }
    temporary_ = aside;
  }
  sync_folder(parent.empty() ? "." : parent.string());
}

void copy_file_synced(const std::string& from, const std::string& to) {
  const MappedFile file(from);
  AtomicFile copy(to);
  constexpr std::size_t piece = 4u << 20;
  for (std::size_t done = 0; done < file.bytes().size(); done += piece) {
    const auto part = file.bytes().subspan(done, std::min(piece, file.bytes().size() - done));
    copy.write(part.data(), part.size());
    file.forget(done, part.size());
  }
  copy.commit();
}

}  // namespace lorikeet
