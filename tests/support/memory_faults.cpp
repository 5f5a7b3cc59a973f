// SPDX-License-Identifier: Apache-2.0
// A definition of aligned_alloc that stands before the C library's: in an executable, or in a library that is
// loaded first. oneDNN takes its small objects from posix_memalign and does not live through a refusal; those
// are left alone.
#include "tests/support/memory_faults.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace lorikeet::test {
namespace {

std::atomic<bool> armed{false}, sticky{false}, met{false};
std::atomic<int> left{0}, seen{0};

bool refused() {
  if (!armed) return false;
  ++seen;
  const int now = --left;
  if (now != 0 && !(now < 0 && met && sticky)) return false;
  met = true;
  return true;
}

struct FromEnvironment {
  FromEnvironment() {
    const char* nth = std::getenv("LORIKEET_MEMORY_FAULT");
    if (nth && std::getenv("OMP_PROC_BIND")) arm_memory_fault(std::atoi(nth));
  }
} from_environment;

}  // namespace

void arm_memory_fault(int nth, bool and_later) {
  left = nth;
  seen = 0;
  met = false;
  sticky = and_later;
  armed = true;
}
int disarm_memory_fault() {
  armed = false;
  return seen;
}
bool met_memory_fault() {
  return met;
}

}  // namespace lorikeet::test

extern "C" {

void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  using Function = void* (*)(std::size_t, std::size_t);
  static const auto real = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "aligned_alloc"));
  if (!lorikeet::test::refused()) return real(alignment, bytes);
  errno = ENOMEM;
  return nullptr;
}

}  // extern "C"
