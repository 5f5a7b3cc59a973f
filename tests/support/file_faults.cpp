// SPDX-License-Identifier: Apache-2.0
// Definitions of system calls' wrappers that stand before those of the C library: in an executable, or in a
// library that is loaded first. Each counts itself when it touches the watched folder and then asks the
// system directly.
#include "tests/support/file_faults.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace lorikeet::test {
namespace {

struct Fault {
  FaultKind kind = FaultKind::count;
  int nth = 0, error = 0;
  char folder[PATH_MAX] = {};
  int seen = 0;
  char met[PATH_MAX + 32] = {};
};

std::atomic<bool> armed{false};
// Calls come from before main to after its end: nothing here needs construction.
std::mutex guard;
Fault fault;

enum class Verdict { pass, fail, half, die_after };

[[noreturn]] void die() {
  ::syscall(SYS_kill, ::syscall(SYS_getpid), SIGKILL);
  for (;;) ::syscall(SYS_pause);
}

Verdict judge(const char* operation, const char* path, bool writes) {
  if (!armed.load(std::memory_order_relaxed)) return Verdict::pass;
  const std::lock_guard lock(guard);
  const std::size_t length = std::strlen(fault.folder);
  if (!armed || std::strncmp(path, fault.folder, length) != 0) return Verdict::pass;
  const bool now = ++fault.seen == fault.nth;
  const bool later = fault.seen > fault.nth && fault.nth > 0;
  if (now) std::snprintf(fault.met, sizeof fault.met, "%s %s", operation, path);
  switch (fault.kind) {
    case FaultKind::count:
      return Verdict::pass;
    case FaultKind::fail:
      return now ? Verdict::fail : Verdict::pass;
    case FaultKind::fail_on:
      return now || later ? Verdict::fail : Verdict::pass;
    case FaultKind::short_write:
      return now && writes ? Verdict::half : Verdict::pass;
    case FaultKind::kill:
      if (now) die();
      return Verdict::pass;
    case FaultKind::tear:
      if (!now) return Verdict::pass;
      return writes ? Verdict::half : Verdict::die_after;
  }
  return Verdict::pass;
}

bool watching() {
  return armed.load(std::memory_order_relaxed);
}

/// The path behind a descriptor, "" for what is no file.
void path_of(int descriptor, char* path) {
  char link[64];
  std::snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  const long got = ::syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  path[std::max(0L, got)] = 0;
}

void path_at(int folder, const char* name, char* path) {
  if (name[0] == '/' || folder == AT_FDCWD) {
    std::snprintf(path, PATH_MAX, "%s", name);
    return;
  }
  char base[PATH_MAX];
  path_of(folder, base);
  if (std::snprintf(path, PATH_MAX, "%s/%s", base, name) >= PATH_MAX) path[0] = 0;
}

/// Does a call that takes no bytes.
template <typename Call>
int change(const char* operation, const char* path, Call call) {
  const Verdict verdict = judge(operation, path, false);
  if (verdict == Verdict::fail) {
    errno = fault.error;
    return -1;
  }
  const auto result = static_cast<int>(call());
  if (verdict == Verdict::die_after) die();
  return result;
}

template <typename Call>
int change_at(const char* operation, int folder, const char* name, Call call) {
  if (!watching()) return static_cast<int>(call());
  char path[PATH_MAX];
  path_at(folder, name, path);
  return change(operation, path, call);
}

template <typename Call>
int change_open(const char* operation, int descriptor, Call call) {
  if (!watching()) return static_cast<int>(call());
  char path[PATH_MAX];
  path_of(descriptor, path);
  return change(operation, path, call);
}

/// Does a call that takes `bytes` bytes, or half of them.
template <typename Call>
ssize_t give(const char* operation, int descriptor, std::size_t bytes, Call call) {
  if (!watching()) return call(bytes);
  char path[PATH_MAX];
  path_of(descriptor, path);
  const Verdict verdict = judge(operation, path, true);
  if (verdict == Verdict::fail) {
    errno = fault.error;
    return -1;
  }
  if (verdict != Verdict::half) return call(bytes);
  const bool dies = fault.kind == FaultKind::tear;
  const ssize_t result = call(dies ? bytes / 2 : std::max<std::size_t>(1, bytes / 2));
  if (dies) die();
  return result;
}

int open_at(int folder, const char* name, int flags, mode_t mode) {
  return change_at("open", folder, name, [&] { return ::syscall(SYS_openat, folder, name, flags, mode); });
}

mode_t mode_of(int flags, std::va_list arguments) {
  return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

/// What a child process is told by its environment.
struct FromEnvironment {
  FromEnvironment() {
    const char* what = std::getenv("LORIKEET_FILE_FAULT");
    const char* folder = std::getenv("LORIKEET_FILE_FAULT_FOLDER");
    // The engine starts itself again with OpenMP's settings: only that process counts.
    if (!what || !folder || !std::getenv("OMP_PROC_BIND")) return;
    int kind = 0, nth = 0, error = 0;
    if (std::sscanf(what, "%d:%d:%d", &kind, &nth, &error) == 3)
      arm_file_fault(static_cast<FaultKind>(kind), nth, folder, error);
  }
  ~FromEnvironment() {
    const char* file = std::getenv("LORIKEET_FILE_FAULT_COUNT");
    if (!file || !watching()) return;
    const int seen = disarm_file_fault();
    if (std::FILE* out = std::fopen(file, "w")) {
      std::fprintf(out, "%d\n", seen);
      std::fclose(out);
    }
  }
} from_environment;

}  // namespace

void arm_file_fault(FaultKind kind, int nth, const std::string& folder, int error) {
  const std::lock_guard lock(guard);
  fault.kind = kind;
  fault.nth = nth;
  fault.error = error;
  fault.seen = 0;
  fault.met[0] = 0;
  std::snprintf(fault.folder, sizeof fault.folder, "%s", folder.c_str());
  armed = true;
}

int disarm_file_fault() {
  const std::lock_guard lock(guard);
  armed = false;
  return fault.seen;
}

std::string met_file_fault() {
  const std::lock_guard lock(guard);
  return fault.met;
}

}  // namespace lorikeet::test

// NOLINTBEGIN(readability-inconsistent-declaration-parameter-name)
extern "C" {

using namespace lorikeet::test;

int open(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(folder, path, flags, mode);
}
int openat64(int folder, const char* path, int flags, ...) {
  std::va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = mode_of(flags, arguments);
  va_end(arguments);
  return open_at(folder, path, flags, mode);
}

ssize_t write(int file, const void* data, size_t bytes) {
  return give("write", file, bytes, [&](size_t count) { return ::syscall(SYS_write, file, data, count); });
}
ssize_t pwrite(int file, const void* data, size_t bytes, off_t at) {
  return give("pwrite", file, bytes,
              [&](size_t count) { return ::syscall(SYS_pwrite64, file, data, count, at); });
}
ssize_t pwrite64(int file, const void* data, size_t bytes, off64_t at) {
  return pwrite(file, data, bytes, at);
}
ssize_t writev(int file, const struct iovec* parts, int count) {
  // Half of it is its first part.
  return give("writev", file, static_cast<size_t>(count),
              [&](size_t some) { return ::syscall(SYS_writev, file, parts, static_cast<int>(some)); });
}
int fsync(int file) {
  return change_open("fsync", file, [&] { return ::syscall(SYS_fsync, file); });
}
int fdatasync(int file) {
  return change_open("fdatasync", file, [&] { return ::syscall(SYS_fdatasync, file); });
}
int ftruncate(int file, off_t bytes) noexcept {
  return change_open("ftruncate", file, [&] { return ::syscall(SYS_ftruncate, file, bytes); });
}
int ftruncate64(int file, off64_t bytes) noexcept {
  return ftruncate(file, bytes);
}
int fallocate(int file, int mode, off_t from, off_t bytes) {
  return change_open("fallocate", file, [&] { return ::syscall(SYS_fallocate, file, mode, from, bytes); });
}
int rename(const char* from, const char* to) noexcept {
  return change_at("rename", AT_FDCWD, to,
                   [&] { return ::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0); });
}
int renameat(int from_folder, const char* from, int to_folder, const char* to) noexcept {
  return change_at("rename", to_folder, to,
                   [&] { return ::syscall(SYS_renameat2, from_folder, from, to_folder, to, 0); });
}
int renameat2(int from_folder, const char* from, int to_folder, const char* to, unsigned flags) noexcept {
  return change_at("rename", to_folder, to,
                   [&] { return ::syscall(SYS_renameat2, from_folder, from, to_folder, to, flags); });
}
int unlink(const char* path) noexcept {
  return change_at("unlink", AT_FDCWD, path, [&] { return ::syscall(SYS_unlinkat, AT_FDCWD, path, 0); });
}
int unlinkat(int folder, const char* path, int flags) noexcept {
  return change_at("unlink", folder, path, [&] { return ::syscall(SYS_unlinkat, folder, path, flags); });
}
int rmdir(const char* path) noexcept {
  return change_at("rmdir", AT_FDCWD, path,
                   [&] { return ::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR); });
}
int remove(const char* path) noexcept {
  return change_at("remove", AT_FDCWD, path, [&] {
    const long result = ::syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    return result != 0 && errno == EISDIR ? ::syscall(SYS_unlinkat, AT_FDCWD, path, AT_REMOVEDIR) : result;
  });
}
int mkdir(const char* path, mode_t mode) noexcept {
  return change_at("mkdir", AT_FDCWD, path, [&] { return ::syscall(SYS_mkdirat, AT_FDCWD, path, mode); });
}
int mkdirat(int folder, const char* path, mode_t mode) noexcept {
  return change_at("mkdir", folder, path, [&] { return ::syscall(SYS_mkdirat, folder, path, mode); });
}

}  // extern "C"
// NOLINTEND(readability-inconsistent-declaration-parameter-name)
