// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "tests/ptx/machine.h"

namespace lorikeet::ptx {

Block::Block(Launch& owner) : launch(owner) {
  threads = owner.block.x * owner.block.y * owner.block.z;
  shared.resize(owner.shared_bytes);
  shared_written.resize(owner.shared_bytes);
  const std::uint32_t count = (threads + warp_size - 1) / warp_size;
  if (owner.options.check_races && threads > 1 && !shared.empty()) {
    races = std::make_unique<SharedRaces>(shared.size(), count);
  }
  for (std::uint32_t w = 0; w < count; ++w) warps.push_back(std::make_unique<Warp>(*this, w));
}

void Block::set_specials(Warp& warp) {
  const Dim3 size = launch.block, grid = launch.grid;
  std::uint32_t* const words = warp.specials();
  const auto fill = [&](Special which, std::uint32_t value) {
    std::fill_n(words + which * warp_size, warp_size, value);
  };
  for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
    const std::uint32_t thread = warp.index * warp_size + lane;
    words[tid_x * warp_size + lane] = thread % size.x;
    words[tid_y * warp_size + lane] = thread / size.x % size.y;
    words[tid_z * warp_size + lane] = thread / size.x / size.y;
    words[laneid * warp_size + lane] = lane;
    const std::uint32_t bit = 1u << lane;
    words[lanemask_eq * warp_size + lane] = bit;
    words[lanemask_lt * warp_size + lane] = bit - 1;
    words[lanemask_le * warp_size + lane] = bit | (bit - 1);
    words[lanemask_ge * warp_size + lane] = ~(bit - 1);
    words[lanemask_gt * warp_size + lane] = ~(bit | (bit - 1));
  }
  fill(ntid_x, size.x);
  fill(ntid_y, size.y);
  fill(ntid_z, size.z);
  fill(ctaid_x, index.x);
  fill(ctaid_y, index.y);
  fill(ctaid_z, index.z);
  fill(nctaid_x, grid.x);
  fill(nctaid_y, grid.y);
  fill(nctaid_z, grid.z);
  fill(warpid, warp.index);
  fill(nwarpid, static_cast<std::uint32_t>(warps.size()));
  fill(smid, static_cast<std::uint32_t>(number % 4));
  fill(nsmid, 4);
  fill(dynamic_smem_size, static_cast<std::uint32_t>(launch.dynamic_shared_bytes));
  fill(total_smem_size, static_cast<std::uint32_t>(launch.shared_bytes));
  fill(special_zero, 0);
  fill(special_one, 1);
}

// Warps run greedily in random order: threads that proceed evenly would hide a missing barrier after a read.
void Block::run(std::uint64_t block_number) {
  number = block_number;
  const Dim3 grid = launch.grid;
  index = {static_cast<unsigned>(number % grid.x), static_cast<unsigned>(number / grid.x % grid.y),
           static_cast<unsigned>(number / grid.x / grid.y)};
  std::fill(shared.begin(), shared.end(), std::byte{0xff});
  std::fill(shared_written.begin(), shared_written.end(), std::uint8_t{0});
  barriers_ = {};
  if (races != nullptr) races->begin_block();
  for (const auto& warp : warps) {
    warp->start(std::min(threads - warp->index * warp_size, warp_size));
    set_specials(*warp);
  }
  std::vector<Warp*> runnable;
  std::uint64_t turns = 0;
  for (;;) {
    runnable.clear();
    bool all_exited = true;
    for (const auto& warp : warps) {
      if (warp->state == Warp::State::runnable) runnable.push_back(warp.get());
      all_exited = all_exited && warp->state == Warp::State::exited;
    }
    if (all_exited) return;
    if (runnable.empty()) stuck();
    Warp& chosen = *runnable[launch.random() % runnable.size()];
    running = &chosen;
    chosen.run();
    turns = chosen.state == Warp::State::runnable ? turns + 1 : 0;
    if (turns > launch.options.turns_without_progress) {
      throw Fault{static_cast<std::uint32_t>(std::countr_zero(chosen.live)),
                  "deadlock: the block loops without end"};
    }
  }
}

std::uint32_t Block::live_threads() const {
  std::uint32_t live = 0;
  for (const auto& warp : warps) live += static_cast<std::uint32_t>(std::popcount(warp->live));
  return live;
}

bool Block::arrive(Warp& warp, const Instruction& i, std::uint32_t id, std::uint32_t expected, bool waits) {
  Barrier& barrier = barriers_[id];
  if (barrier.warps != 0 && barrier.expected != expected) {
    throw Fault{0, "barrier " + std::to_string(id) + " is waited for with another thread count"};
  }
  if (barrier.warps != 0 && expected == 0 && barrier.instruction != &i) {
    throw Fault{0, "a barrier not all reach: other warps wait at PTX line " +
                       std::to_string(barrier.instruction->statement->line)};
  }
  if ((barrier.warps >> warp.index & 1) != 0) throw Fault{0, "the warp arrives twice at one barrier"};
  barrier.expected = expected;
  barrier.instruction = &i;
  barrier.warps |= 1u << warp.index;
  // A thread count is one of whole warps, and so is what arrives.
  barrier.arrived += expected != 0 ? warp_size : static_cast<std::uint32_t>(std::popcount(warp.live));
  if (i.mode >= 2) {
    const std::uint32_t p = *warp.at<std::uint32_t>(i.c) ^ (i.flag ? all_lanes : 0);
    barrier.counted += static_cast<std::uint32_t>(std::popcount(p & warp.live));
    barrier.counted_of += static_cast<std::uint32_t>(std::popcount(warp.live));
  }
  const std::uint32_t needed = expected != 0 ? expected : live_threads();
  if (barrier.arrived > needed)
    throw Fault{0, "more threads than barrier " + std::to_string(id) + " expects"};
  if (barrier.arrived == needed) release(barrier, id);
  return waits;
}

void Block::give_result(const Barrier& barrier, Warp& warp, const Instruction& i) {
  if (i.mode < 2) return;
  if (i.mode == 2) {
    std::uint32_t* d = warp.at<std::uint32_t>(i.d);
    for_each_lane(warp.live, [&](std::uint32_t lane) { d[lane] = barrier.counted; });
    return;
  }
  const bool result = i.mode == 3 ? barrier.counted == barrier.counted_of : barrier.counted != 0;
  std::uint32_t& d = *warp.at<std::uint32_t>(i.d);
  d = (d & ~warp.live) | (result ? warp.live : 0);
}

void Block::release(Barrier& barrier, std::uint32_t id) {
  std::uint32_t waiting = 0;
  for (const auto& warp : warps) {
    if ((barrier.warps >> warp->index & 1) != 0 && warp->state == Warp::State::at_barrier &&
        warp->barrier == id) {
      warp->state = Warp::State::runnable;
      waiting |= 1u << warp->index;
      give_result(barrier, *warp, launch.program.code[warp->barrier_pc]);
    }
  }
  if (races != nullptr) races->barrier(barrier.warps, waiting);
  barrier = {};
}

void Block::warp_exited() {
  for (std::uint32_t id = 0; id < barriers_.size(); ++id) {
    Barrier& barrier = barriers_[id];
    if (barrier.warps != 0 && barrier.expected == 0 && barrier.arrived == live_threads())
      release(barrier, id);
  }
}

void Block::stuck() const {
  for (const auto& warp : warps) {
    if (warp->state != Warp::State::at_barrier) continue;
    const_cast<Block*>(this)->running = warp.get();
    throw Fault{static_cast<std::uint32_t>(std::countr_zero(warp->live)),
                "deadlock: a barrier not all reach; the other warps have exited or wait at another one"};
  }
  throw Fault{0, "deadlock"};
}

}  // namespace lorikeet::ptx
