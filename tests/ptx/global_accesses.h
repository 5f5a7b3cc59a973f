// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace lorikeet::ptx {

/// What the blocks of one launch did to global memory: races between blocks, and the sectors of 32 bytes
/// touched. Blocks of a launch are never ordered, so a byte that one writes and another reads, or both write
/// with different values, is a race; atomics of several blocks are none.
class GlobalAccesses {
 public:
  explicit GlobalAccesses(bool races) : races_(races) {}

  /// `block` is its number in the grid; any number of bytes. Each gives false for a race, and complaint()
  /// tells about it.
  bool read(std::uint32_t block, std::uint64_t address, std::uint32_t bytes);
  bool write(std::uint32_t block, std::uint64_t address, std::uint32_t bytes, const std::byte* new_value);
  bool update(std::uint32_t block, std::uint64_t address, std::uint32_t bytes);  ///< an atomic

  const std::string& complaint() const { return complaint_; }

  std::uint64_t sectors_read() const;
  std::uint64_t sectors_written() const;

 private:
  static constexpr std::uint32_t page_bytes = 1024;  // 32 sectors
  struct Cell {
    std::uint32_t writer = 0, reader = 0;  // block + 1, 0 = nobody
  };
  /// Cells stand for 4 bytes until a smaller access comes.
  struct Page {
    std::uint32_t read = 0, written = 0;  // sectors
    std::uint32_t shift = 2;
    std::vector<Cell> cells;
  };
  Page& page(std::uint64_t address);
  void refine(Page& page, std::uint32_t bytes);
  /// The cells of an access: first and one beyond.
  std::pair<Cell*, Cell*> cells(Page& page, std::uint64_t address, std::uint32_t bytes);

  bool race(const char* what, std::uint32_t other);  // false

  bool races_;
  std::string complaint_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  struct Recent {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Recent, 64> recent_{};
};

}  // namespace lorikeet::ptx
