// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/ptx/machine.h"

namespace lorikeet::ptx {

namespace {

constexpr std::uint32_t no_limit = 0xffffffffu;
constexpr std::uint32_t longest_run =
    1u << 12;  // backward branches before other groups and warps get their turn

std::string hexadecimal(std::uint32_t mask) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", mask);
  return text;
}

std::uint32_t first_lane(std::uint32_t mask) {
  return static_cast<std::uint32_t>(std::countr_zero(mask));
}

}  // namespace

Warp::Warp(Block& owner, std::uint32_t number)
    : block(owner),
      index(number),
      program_(owner.launch.program),
      slots_(program_.slots.data()),
      registers_(new std::byte[program_.register_bytes + 256]),
      specials_(special_count * warp_size) {
  std::memset(registers_.get(), 0xff, program_.register_bytes + 256);
  bases_ = {registers_.get(), const_cast<std::byte*>(program_.constants.data()),
            reinterpret_cast<std::byte*>(specials_.data()), scratch_.data()};
  lane_memory.resize(program_.lane_bytes * warp_size);
  lane_written.resize(lane_memory.size());
}

void Warp::start(std::uint32_t threads) {
  live = threads >= warp_size ? all_lanes : (1u << threads) - 1;
  state = State::runnable;
  initialised_.assign(program_.suspects, 0);
  std::fill(lane_written.begin(), lane_written.end(), std::uint8_t{0});
  pending.clear();
  copy_group.fill(0);
  groups_.assign(1, {program_.entry, live, false});
  backward_ = 0;
  last_first_ = false;
}

void Warp::run() {
  backward_ = 0;
  while (state == State::runnable && backward_ < longest_run) {
    const std::size_t chosen = pick();
    const Group group = groups_[chosen];
    groups_.erase(groups_.begin() + static_cast<std::ptrdiff_t>(chosen));
    run_group(group);
  }
  if (backward_ >= longest_run) last_first_ = !last_first_;
}

std::size_t Warp::pick() const {
  std::size_t chosen = groups_.size();
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    if (groups_[g].waiting) continue;
    if (chosen == groups_.size() || (groups_[g].pc < groups_[chosen].pc) != last_first_) chosen = g;
  }
  if (chosen == groups_.size()) stuck();
  return chosen;
}

void Warp::stuck() const {
  const Group& group = groups_.front();
  const std::uint32_t others = live & ~group.mask;
  std::string what =
      "deadlock: lanes " + hexadecimal(group.mask) + " wait here for lanes of " + hexadecimal(others);
  if (groups_.size() > 1) {
    const Statement& there = *program_.code[groups_[1].pc].statement;
    what += ", which wait at PTX line " + std::to_string(there.line) + ", \"" + there.text + "\"";
  }
  const_cast<Warp*>(this)->current_ = &program_.code[group.pc];
  throw Fault{first_lane(group.mask), what};
}

void Warp::add_group(std::uint32_t pc, std::uint32_t mask) {
  if (mask == 0) return;
  for (Group& g : groups_) {
    if (g.pc != pc) continue;
    g.mask |= mask;
    g.waiting = false;
    return;
  }
  groups_.push_back({pc, mask, false});
}

std::uint32_t Warp::next_group_above(std::uint32_t pc) const {
  std::uint32_t limit = no_limit;
  for (const Group& g : groups_) {
    if (g.pc > pc) limit = std::min(limit, g.pc);
  }
  return limit;
}

// The guard, if it is among the suspects, is the first of them, and read by every lane.
void Warp::check(const Instruction& i, std::uint32_t mask, std::uint32_t active) {
  const std::uint32_t* suspects = program_.checks.data() + i.checks;
  std::uint32_t written = all_lanes, n = 0;
  std::uint32_t missing = 0;
  if (i.checks_guard) missing = mask & ~initialised_[suspects[n++]];
  for (; n < i.uses; ++n) written &= initialised_[suspects[n]];
  if (!i.copies) missing |= active & ~written;
  if (missing != 0) throw Fault{first_lane(missing), "reads a register that was never written"};
  if (!i.copies) written = all_lanes;
  for (n = i.uses; n < static_cast<std::uint32_t>(i.uses + i.definitions); ++n) {
    initialised_[suspects[n]] = (initialised_[suspects[n]] & ~active) | (written & active);
  }
}

void Warp::run_group(Group group) {
  std::uint32_t pc = group.pc;
  const std::uint32_t mask = group.mask;
  const auto lanes = static_cast<std::uint64_t>(std::popcount(mask));
  const Instruction* const code = program_.code.data();
  std::uint64_t& executed = block.launch.counts.instructions;
  std::uint32_t limit = next_group_above(pc);
  for (;;) {
    const Instruction& i = code[pc];
    current_ = &i;
    std::uint32_t active = mask;
    executed += lanes;
    if (i.guarded) {
      const std::uint32_t guard = *at<std::uint32_t>(i.guard);
      active &= i.guard_negated ? ~guard : guard;
    }
    if ((i.uses | i.definitions) != 0) check(i, mask, active);
    if (active != 0) {
      switch (i.flow) {
        case Flow::next:
          i.run(*this, i, active);
          break;
        case Flow::converged:
          if (!converge(i, pc, mask, active)) return;
          break;
        case Flow::barrier:
          if (!arrive(i, pc, mask, active)) return;
          break;
        case Flow::branch:
          if (!branch(i, pc, mask, active)) return;
          continue;
        case Flow::branch_table:
          return branch_table(i, pc, mask, active);
        case Flow::call:
          return call(i, pc, mask, active);
        case Flow::ret:
          return ret(i, pc, mask, active);
        case Flow::exit:
          return leave(pc, mask, active);
      }
    }
    ++pc;
    if (pc == limit) return add_group(pc, mask);
  }
}

bool Warp::branch(const Instruction& i, std::uint32_t& pc, std::uint32_t mask, std::uint32_t active) {
  if (i.target <= pc) ++backward_;
  if (active == mask && groups_.empty() && backward_ < longest_run) {
    pc = i.target;
    return true;
  }
  add_group(i.target, active);
  add_group(pc + 1, mask & ~active);
  return false;
}

void Warp::branch_table(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  const std::uint32_t* which = at<std::uint32_t>(i.a);
  const std::vector<std::uint32_t>& table = program_.tables[i.target];
  ++backward_;
  for_each_lane(active, [&](std::uint32_t lane) {
    if (which[lane] >= table.size())
      throw Fault{lane, "the branch table has no entry " + std::to_string(which[lane])};
    add_group(table[which[lane]], 1u << lane);
  });
  add_group(pc + 1, mask & ~active);
}

void Warp::call(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  std::uint64_t* back = at<std::uint64_t>(i.d);
  const std::size_t bytes = program_.lane_bytes;
  for_each_lane(active, [&](std::uint32_t lane) {
    back[lane] = pc + 1;
    for (const CallCopies::Copy& copy : program_.calls[static_cast<std::size_t>(i.offset)].arguments) {
      std::memmove(&lane_memory[lane * bytes + copy.to], &lane_memory[lane * bytes + copy.from], copy.bytes);
      std::memmove(&lane_written[lane * bytes + copy.to], &lane_written[lane * bytes + copy.from],
                   copy.bytes);
    }
  });
  add_group(i.target, active);
  add_group(pc + 1, mask & ~active);
}

void Warp::ret(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  const std::uint64_t* back = at<std::uint64_t>(i.a);
  const std::size_t bytes = program_.lane_bytes;
  for_each_lane(active, [&](std::uint32_t lane) {
    const auto to = static_cast<std::uint32_t>(back[lane]);
    const Instruction& caller = program_.code[to - 1];
    for (const CallCopies::Copy& copy : program_.calls[static_cast<std::size_t>(caller.offset)].results) {
      std::memmove(&lane_memory[lane * bytes + copy.to], &lane_memory[lane * bytes + copy.from], copy.bytes);
      std::memmove(&lane_written[lane * bytes + copy.to], &lane_written[lane * bytes + copy.from],
                   copy.bytes);
    }
    add_group(to, 1u << lane);
  });
  add_group(pc + 1, mask & ~active);
}

void Warp::leave(std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  live &= ~active;
  for (Group& g : groups_) g.waiting = false;  // what they wait for may be gone
  add_group(pc + 1, mask & ~active);
  if (live != 0) return;
  state = State::exited;
  block.warp_exited();
}

void Warp::park(std::uint32_t pc, std::uint32_t mask, std::uint32_t waiting) {
  block.launch.counts.instructions -= static_cast<std::uint64_t>(std::popcount(waiting));
  groups_.push_back({pc, waiting, true});
  add_group(pc + 1, mask & ~waiting);
}

void Warp::synchronised(std::uint32_t mask) {
  if (block.races != nullptr) block.races->warp_sync(index, mask, live);
}

// Lanes that name the same members run together once all members that still live are here.
bool Warp::converge(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  const std::uint32_t* members = at<std::uint32_t>(i.members);
  std::uint32_t rest = active, waiting = 0;
  while (rest != 0) {
    const std::uint32_t named = members[first_lane(rest)];
    std::uint32_t same = 0;
    for_each_lane(rest, [&](std::uint32_t lane) { same |= std::uint32_t{members[lane] == named} << lane; });
    rest &= ~same;
    if ((same & ~named) != 0)
      throw Fault{first_lane(same & ~named), "the lane is not in its own member mask"};
    if ((named & live & ~same) != 0) {
      waiting |= same;
    } else {
      i.run(*this, i, same);
    }
  }
  if (waiting == 0) return true;
  park(pc, mask, waiting);
  return false;
}

bool Warp::arrive(const Instruction& i, std::uint32_t pc, std::uint32_t mask, std::uint32_t active) {
  if (active != live) {
    park(pc, mask, active);
    return false;
  }
  const std::uint32_t lane = first_lane(active);
  const std::uint32_t id = at<std::uint32_t>(i.a)[lane];
  const std::uint32_t expected = i.b.bank == Bank::none ? 0 : at<std::uint32_t>(i.b)[lane];
  if (id >= 16) throw Fault{lane, "there is no barrier " + std::to_string(id)};
  if (expected % warp_size != 0) throw Fault{lane, "the thread count is no multiple of the warp's size"};
  barrier = id;
  barrier_pc = pc;
  const bool waits = i.mode != 1;
  if (waits) state = State::at_barrier;
  add_group(pc + 1, mask);
  if (i.run != nullptr) i.run(*this, i, active);
  block.arrive(*this, i, id, expected, waits);
  return false;
}

}  // namespace lorikeet::ptx
