// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/shared_races.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "tests/ptx/program.h"

namespace lorikeet::ptx {

SharedRaces::SharedRaces(std::size_t bytes, std::uint32_t warps)
    : words_(bytes / 4 + 1), split_(bytes / 4 + 1), warps_(warps) {}

// What earlier blocks did lies before everything: the clocks go on, so that no cell has to be cleared.
void SharedRaces::begin_block() {
  const std::uint32_t before = *std::max_element(clock_.begin(), clock_.end());
  clock_.fill(before + 1);
  for (Row& row : known_) row.fill(before);
  for (auto& lanes : lanes_known_) lanes.reset();
}

void SharedRaces::barrier(std::uint32_t arrived, std::uint32_t waiting) {
  // The clocks of those who meet become equal, so that one number can stand for readers of several warps.
  Row joined{};
  std::uint32_t latest = 0;
  for (std::uint32_t w = 0; w < warps_; ++w) {
    if ((arrived >> w & 1) == 0) continue;
    for (std::uint32_t x = 0; x < warps_; ++x) joined[x] = std::max(joined[x], known_[w][x]);
    latest = std::max(latest, clock_[w]);
  }
  for (std::uint32_t w = 0; w < warps_; ++w) {
    if ((arrived >> w & 1) != 0) joined[w] = latest;
  }
  for (std::uint32_t w = 0; w < warps_; ++w) {
    if ((arrived >> w & 1) == 0) continue;
    clock_[w] = latest + 1;
    if ((waiting >> w & 1) == 0) continue;
    for (std::uint32_t x = 0; x < warps_; ++x) known_[w][x] = std::max(known_[w][x], joined[x]);
    lanes_known_[w].reset();
  }
}

void SharedRaces::warp_sync(std::uint32_t warp, std::uint32_t mask, std::uint32_t live) {
  const std::uint32_t now = clock_[warp]++;
  if ((live & ~mask) == 0) {
    known_[warp][warp] = now;
    lanes_known_[warp].reset();
    return;
  }
  if (lanes_known_[warp] == nullptr) lanes_known_[warp] = std::make_unique<std::array<Row, 32>>();
  std::array<Row, 32>& lanes = *lanes_known_[warp];
  Row joined{};
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(m));
    for (std::size_t other = 0; other < 32; ++other)
      joined[other] = std::max(joined[other], lanes[lane][other]);
    joined[lane] = now;
  }
  for (std::uint32_t m = mask; m != 0; m &= m - 1)
    lanes[static_cast<std::size_t>(std::countr_zero(m))] = joined;
}

bool SharedRaces::ordered(const Who& now, std::uint32_t warp, std::uint32_t lane, std::uint32_t clock) const {
  if (clock <= known_[now.warp][warp]) return true;
  if (now.warp != warp) return false;
  if (now.lane == lane) return true;
  const auto& lanes = lanes_known_[warp];
  return lanes != nullptr && clock <= (*lanes)[now.lane][lane];
}

// Only readers that a later writer might not be ordered after are kept.
void SharedRaces::add_reader(const Who& who, Cell& cell) {
  const std::uint32_t clock = clock_[who.warp];
  const Row& known = known_[who.warp];
  if (cell.readers != 0 && cell.read_warp == who.warp) {
    if (cell.read_clock != clock) {
      std::uint32_t kept = 0;
      for (std::uint32_t m = cell.readers; m != 0; m &= m - 1) {
        const auto lane = static_cast<std::uint32_t>(std::countr_zero(m));
        if (!ordered(who, who.warp, lane, cell.read_clock)) kept |= 1u << lane;
      }
      cell.readers = kept;
    }
    cell.readers |= 1u << who.lane;
    cell.read_clock = clock;
    return;
  }
  std::uint32_t warps = 0;
  if (cell.readers != 0) warps = cell.read_warp == several ? cell.readers : 1u << cell.read_warp;
  std::uint32_t unseen = 0;
  for (std::uint32_t m = warps; m != 0; m &= m - 1) {
    const auto warp = static_cast<std::uint32_t>(std::countr_zero(m));
    if (known[warp] < cell.read_clock) unseen |= 1u << warp;
  }
  if ((unseen & ~(1u << who.warp)) == 0) {
    cell.read_warp = static_cast<std::uint8_t>(who.warp);
    cell.readers = unseen == 0 ? 1u << who.lane : 0xffffffffu;
    cell.read_clock = clock;
    return;
  }
  cell.read_warp = several;
  cell.readers = unseen | 1u << who.warp;
  cell.read_clock = std::max(clock, cell.read_clock);
}

bool SharedRaces::read_cell(const Who& who, Cell& cell) {
  const bool after_write = cell.write_clock <= known_[who.warp][cell.writer / 32u];
  if (after_write && cell.read_clock == clock_[who.warp] && cell.read_warp == who.warp && cell.readers != 0) {
    cell.readers |= 1u << who.lane;  // the usual case: another lane of the warp that read last
    cell.read_at = who.instruction;
    return true;
  }
  if (cell.write_clock != 0 && !ordered(who, cell.writer / 32u, cell.writer % 32u, cell.write_clock))
    return false;
  add_reader(who, cell);
  cell.read_at = who.instruction;
  return true;
}

bool SharedRaces::write_cell(const Who& who, Cell& cell, bool same_value, bool atomic) {
  with_read_ = false;
  const bool tolerated = same_value || (atomic && cell.atomic);
  if (cell.write_clock != 0 && !tolerated &&
      !ordered(who, cell.writer / 32u, cell.writer % 32u, cell.write_clock)) {
    return false;
  }
  with_read_ = true;
  for (std::uint32_t m = cell.readers; m != 0; m &= m - 1) {
    const auto n = static_cast<std::uint32_t>(std::countr_zero(m));
    // Several warps: one lane of each stands for it; the writer's own warp is judged by its synchronisations.
    const bool fine = cell.read_warp == several ? known_[who.warp][n] >= cell.read_clock
                                                : ordered(who, cell.read_warp, n, cell.read_clock);
    if (!fine) return false;
  }
  cell.readers = 0;
  cell.write_clock = clock_[who.warp];
  cell.writer = static_cast<std::uint16_t>(who.warp * 32 + who.lane);
  cell.atomic = atomic;
  cell.written_at = who.instruction;
  return true;
}

void SharedRaces::split(std::size_t word) {
  if (bytes_.empty()) bytes_.resize(words_.size() * 4);
  std::fill_n(bytes_.begin() + static_cast<std::ptrdiff_t>(4 * word), 4, words_[word]);
  split_[word] = 1;
}

bool SharedRaces::race(const Cell& cell, bool with_read) {
  const Instruction* at = with_read ? cell.read_at : cell.written_at;
  const auto other = [&]() -> std::string {
    if (!with_read) return "thread " + std::to_string(cell.writer);
    if (cell.read_warp == several) return "threads of several warps";
    return "thread " + std::to_string(cell.read_warp * 32 + std::countr_zero(cell.readers));
  }();
  complaint_ = "race in shared memory: " + other + (with_read ? " read" : " wrote") +
               " the same bytes with no barrier between";
  if (at != nullptr) {
    complaint_ += " (PTX line " + std::to_string(at->statement->line) + ", \"" + at->statement->text + "\")";
  }
  return false;
}

bool SharedRaces::read(const Who& who, std::uint64_t address, std::uint32_t bytes) {
  for (std::uint64_t at = address; at < address + bytes;) {
    const std::size_t word = at / 4;
    if (split_[word] == 0 && bytes >= 4) {
      if (!read_cell(who, words_[word])) return race(words_[word], false);
      at += 4;
      continue;
    }
    if (split_[word] == 0) split(word);
    if (!read_cell(who, bytes_[at])) return race(bytes_[at], false);
    ++at;
  }
  return true;
}

bool SharedRaces::write(const Who& who, std::uint64_t address, std::uint32_t bytes,
                        const std::byte* old_value, const std::byte* new_value, bool atomic) {
  for (std::uint64_t at = address; at < address + bytes;) {
    const std::size_t word = at / 4, done = at - address;
    if (split_[word] == 0 && bytes >= 4) {
      const bool same = std::memcmp(old_value + done, new_value + done, 4) == 0;
      if (!write_cell(who, words_[word], same, atomic)) return race(words_[word], with_read_);
      at += 4;
      continue;
    }
    if (split_[word] == 0) split(word);
    if (!write_cell(who, bytes_[at], old_value[done] == new_value[done], atomic))
      return race(bytes_[at], with_read_);
    ++at;
  }
  return true;
}

}  // namespace lorikeet::ptx
