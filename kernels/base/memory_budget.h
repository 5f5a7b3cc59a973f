// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace lorikeet {

/// Counts the bytes of big allocations against a limit; every arena and tensor of a back end asks it first.
/// Thread-safe. The kernel is never relied on to refuse: it would kill the process instead.
class MemoryBudget {
 public:
  /// `limit_bytes` = 0 means no limit.
  explicit MemoryBudget(std::uint64_t limit_bytes = 0) : limit_(limit_bytes) {}

  /// Counts `bytes`; throws Error(out_of_memory) naming the need and what is left, and counts nothing then.
  void acquire(std::uint64_t bytes);
  void release(std::uint64_t bytes) noexcept { used_ -= bytes; }

  std::uint64_t limit_bytes() const noexcept { return limit_; }
  std::uint64_t used_bytes() const noexcept { return used_; }
  std::uint64_t peak_bytes() const noexcept { return peak_; }

 private:
  const std::uint64_t limit_;
  std::atomic<std::uint64_t> used_{0};
  std::atomic<std::uint64_t> peak_{0};
};

}  // namespace lorikeet
