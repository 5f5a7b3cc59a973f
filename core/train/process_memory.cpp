// SPDX-License-Identifier: Apache-2.0
#include "core/train/process_memory.h"

#include <malloc.h>

#include <cstdlib>
#include <fstream>
#include <string>

namespace lorikeet {
namespace {

/// A "Name:  123 kB" line of /proc/self/status in bytes.
std::int64_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name)) return std::atoll(line.c_str() + name.size()) * 1024;
  }
  return 0;
}

}  // namespace

void release_free_memory() {
  ::malloc_trim(0);
}

std::int64_t anonymous_bytes() {
  return status_bytes("RssAnon:");
}
std::int64_t peak_resident_bytes() {
  return status_bytes("VmHWM:");
}

}  // namespace lorikeet
