// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/dataset.h"

namespace lorikeet {

/// Knows whether an equal row was there before, by a 64-bit hash of its texts, in at most 256 MB.
class SeenRows {
 public:
  /// Rows beyond this many are not looked at.
  static constexpr std::size_t max_rows = std::size_t{1} << 24;

  /// Whether an equal row was added before.
  bool add(const InstructionRow& row);
  bool is_full() const { return count_ >= max_rows; }

 private:
  bool insert(std::uint64_t key);

  std::vector<std::uint64_t> slots_;  ///< open addressing; 0 = free
  std::size_t count_ = 0;
};

}  // namespace lorikeet
