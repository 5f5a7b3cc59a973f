// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace lorikeet::ptx {

struct Instruction;

/// Finds accesses to shared memory that nothing puts in an order. Every warp has a clock that ticks at each
/// barrier and warp synchronisation, and knows up to which tick it has seen every warp's accesses; lanes of
/// one warp are ordered only by bar.warp.sync and barriers of the block, never by running together. One cell
/// per word of 4 bytes, and one per byte where smaller accesses happen. Two writes of one value and two
/// atomics are no race.
class SharedRaces {
 public:
  struct Who {
    std::uint32_t warp = 0, lane = 0;
    const Instruction* instruction = nullptr;
  };

  SharedRaces(std::size_t bytes, std::uint32_t warps);
  void begin_block();
  /// `arrived` warps (bits) have done what they did before; `waiting` ones see it.
  void barrier(std::uint32_t arrived, std::uint32_t waiting);
  void warp_sync(std::uint32_t warp, std::uint32_t mask, std::uint32_t live);

  /// Each gives false for a race, and complaint() tells about it.
  bool read(const Who& who, std::uint64_t address, std::uint32_t bytes);
  bool write(const Who& who, std::uint64_t address, std::uint32_t bytes, const std::byte* old_value,
             const std::byte* new_value, bool atomic);
  const std::string& complaint() const { return complaint_; }

 private:
  struct Cell {
    std::uint32_t write_clock = 0, read_clock = 0;
    std::uint32_t readers = 0;  // lanes of read_warp, or warps when there are several
    std::uint16_t writer = 0;   // warp * 32 + lane
    std::uint8_t read_warp = 0;
    bool atomic = false;
    const Instruction* written_at = nullptr;
    const Instruction* read_at = nullptr;
  };
  static constexpr std::uint8_t several = 0xff;
  using Row = std::array<std::uint32_t, 32>;

  bool ordered(const Who& now, std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const;
  void add_reader(const Who& who, Cell& cell);
  bool read_cell(const Who& who, Cell& cell);
  bool write_cell(const Who& who, Cell& cell, bool same_value, bool atomic);
  void split(std::size_t word);
  bool race(const Cell& cell, bool with_read);  // false

  std::vector<Cell> words_, bytes_;
  std::vector<std::uint8_t> split_;
  std::uint32_t warps_;
  Row clock_{};
  std::array<Row, 32> known_{};
  std::array<std::unique_ptr<std::array<Row, 32>>, 32> lanes_known_;  // only between partial synchronisations
  bool with_read_ = false;
  std::string complaint_;
};

}  // namespace lorikeet::ptx
