// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/ptx/device_memory.h"
#include "tests/ptx/global_accesses.h"
#include "tests/ptx/program.h"
#include "tests/ptx/shared_races.h"

namespace lorikeet::ptx {

constexpr std::uint32_t all_lanes = 0xffffffffu;
constexpr std::uint32_t warp_size = 32;

/// What a lane did wrong; the launch adds kernel, block, thread, line and text.
struct Fault {
  std::uint32_t lane = 0;
  std::string what;
};

template <typename F>
inline void for_each_lane(std::uint32_t mask, F&& f) {
  for (; mask != 0; mask &= mask - 1) f(static_cast<std::uint32_t>(std::countr_zero(mask)));
}

class Block;
class Launch;

/// A group of lanes of a warp that are at the same instruction.
struct Group {
  std::uint32_t pc = 0, mask = 0;
  bool waiting = false;  ///< for lanes that are not here yet
};

/// cp.async: data on its way to shared memory.
struct PendingCopy {
  std::uint32_t lane = 0, group = 0, to = 0, bytes = 0;
  std::array<std::byte, 16> data{};
};

class Warp {
 public:
  enum class State : std::uint8_t { runnable, at_barrier, exited };

  Warp(Block& block, std::uint32_t index);

  template <typename T>
  T* at(Slot slot) const {
    return reinterpret_cast<T*>(bases_[static_cast<std::size_t>(slot.bank)] + slot.offset);
  }
  const Slot* list(const Instruction& i) const { return slots_ + i.list; }

  /// Sets the warp to the first instruction of a new block.
  void start(std::uint32_t threads);
  /// Runs until the warp has exited, waits at a barrier, or has run for long.
  void run();
  /// The lanes have synchronised (bar.warp.sync): what they did before is seen by each of them.
  void synchronised(std::uint32_t mask);
  /// The instruction last begun, for messages.
  const Instruction* current() const { return current_; }

  Block& block;
  const std::uint32_t index;
  std::uint32_t live = 0;
  State state = State::exited;
  std::uint32_t barrier = 0, barrier_pc = 0;
  std::vector<std::byte> lane_memory;
  std::vector<std::uint8_t> lane_written;
  std::vector<PendingCopy> pending;
  std::array<std::uint32_t, warp_size> copy_group{};
  std::uint32_t carry = 0;  ///< the flag of .cc, a bit per lane
  std::uint32_t* specials() { return specials_.data(); }

 private:
  void run_group(Group group);
  std::size_t pick() const;
  void add_group(std::uint32_t pc, std::uint32_t mask);
  std::uint32_t next_group_above(std::uint32_t pc) const;
  bool branch(const Instruction& i, std::uint32_t& pc, std::uint32_t mask, std::uint32_t active);
  void branch_table(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  void call(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  void ret(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  void leave(std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  bool converge(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  bool arrive(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active);
  void park(std::uint32_t pc, std::uint32_t mask, std::uint32_t waiting);
  void check(const Instruction& i, std::uint32_t mask, std::uint32_t active);
  [[noreturn]] void stuck() const;

  const Program& program_;
  std::array<std::byte*, 4> bases_{};
  const Slot* slots_ = nullptr;
  std::unique_ptr<std::byte[]> registers_;
  std::vector<std::uint32_t> specials_;
  std::array<std::byte, 256> scratch_{};
  std::vector<std::uint32_t> initialised_;
  std::vector<Group> groups_;
  const Instruction* current_ = nullptr;
  std::uint32_t backward_ = 0;
  bool last_first_ = false;  ///< after a long run: let the group with the highest instruction go first
};

/// The threads of one block and what they share. One object serves every block of a launch in turn.
class Block {
 public:
  explicit Block(Launch& launch);
  void run(std::uint64_t number);

  /// All threads of the warp arrive. True when the warp has to wait.
  bool arrive(Warp& warp, const Instruction& i, std::uint32_t id, std::uint32_t expected, bool waits);
  void warp_exited();

  Launch& launch;
  std::uint32_t threads = 0;
  std::uint64_t number = 0;
  Dim3 index;
  std::vector<std::byte> shared;
  std::vector<std::uint8_t> shared_written;  ///< 0 never, 1 written, 2 a copy is on its way
  std::unique_ptr<SharedRaces> races;        ///< nullptr: not looked for
  std::vector<std::unique_ptr<Warp>> warps;
  const Warp* running = nullptr;

 private:
  struct Barrier {
    std::uint32_t arrived = 0, expected = 0, warps = 0;
    std::uint32_t counted = 0, counted_of = 0;  // of barrier.red: threads whose predicate is true, and all
    const Instruction* instruction = nullptr;
  };
  void release(Barrier& barrier, std::uint32_t id);
  static void give_result(const Barrier& barrier, Warp& warp, const Instruction& i);
  std::uint32_t live_threads() const;
  void set_specials(Warp& warp);
  [[noreturn]] void stuck() const;

  std::array<Barrier, 16> barriers_{};
};

class Launch {
 public:
  Launch(const Program& program, Dim3 grid, Dim3 block, std::size_t dynamic_shared_bytes,
         const std::vector<std::byte>& parameters, DeviceMemory& memory, const LaunchOptions& options);
  LaunchCounts run();

  const Program& program;
  const Dim3 grid, block;
  const std::size_t dynamic_shared_bytes, shared_bytes;
  const std::vector<std::byte>& parameters;
  DeviceMemory& memory;
  const LaunchOptions options;
  LaunchCounts counts;
  std::mt19937_64 random;
  std::unique_ptr<GlobalAccesses> accesses;  ///< nullptr: neither races nor bytes are asked for

  /// The live range an instruction last accessed.
  struct KnownRange {
    std::uint64_t begin = 0, end = 0;
    bool device = false;  ///< has a shadow; else a variable of the module
  };
  std::vector<KnownRange> ranges;  ///< of every instruction

 private:
  void check_limits() const;
  std::string describe(const Block& at, const Warp& warp, std::uint32_t lane, const std::string& what) const;
};

/// Most bytes of shared memory a block may have on sm_NN.
std::size_t shared_limit(int target);

}  // namespace lorikeet::ptx
