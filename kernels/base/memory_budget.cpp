// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/memory_budget.h"

#include <string>

#include "kernels/base/error.h"

namespace lorikeet {

void MemoryBudget::acquire(std::uint64_t bytes) {
  std::uint64_t used = used_.load();
  do {
    if (limit_ != 0 && (bytes > limit_ || used > limit_ - bytes)) {
      const std::uint64_t left = used < limit_ ? limit_ - used : 0;
      throw Error(ErrorCode::out_of_memory,
                  "Cannot get " + std::to_string(bytes) + " bytes of memory, " + std::to_string(left) +
                      " of " + std::to_string(limit_) + " are left",
                  {}, "Lower batch-size or max-length, or raise memory-limit");
    }
  } while (!used_.compare_exchange_weak(used, used + bytes));
  std::uint64_t peak = peak_.load();
  while (used + bytes > peak && !peak_.compare_exchange_weak(peak, used + bytes)) {
  }
}

}  // namespace lorikeet
