// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <queue>
#include <stdexcept>

#include "tests/ptx/program.h"

namespace lorikeet::ptx {

namespace {

constexpr std::uint32_t nowhere = 0xffffffffu;

/// Live registers by the usual backward data-flow over basic blocks. A guarded instruction does not end the
/// life of the value it may replace.
class Placement {
 public:
  Placement(Program& program, const std::vector<std::uint32_t>& bytes) : program_(program), bytes_(bytes) {}

  void run() {
    number_registers();
    cut_blocks();
    solve();
    find_suspects();
    place();
  }

 private:
  using Bits = std::vector<std::uint64_t>;
  struct Block {
    std::uint32_t begin = 0, end = 0;
    std::vector<std::uint32_t> next;  // blocks
    Bits uses, kills, in, out;
  };

  static bool get(const Bits& bits, std::uint32_t i) { return bits[i / 64] >> (i % 64) & 1; }
  static void set(Bits& bits, std::uint32_t i) { bits[i / 64] |= std::uint64_t{1} << (i % 64); }
  static void clear(Bits& bits, std::uint32_t i) { bits[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  template <typename F>
  void each_use(Instruction& i, F&& f) {
    for (Slot* s : {&i.guard, &i.members, &i.a, &i.b, &i.c}) {
      if (s->bank == Bank::registers) f(*s);
    }
    for (std::uint32_t n = i.list_destinations; n < i.list_size; ++n) {
      if (program_.slots[i.list + n].bank == Bank::registers) f(program_.slots[i.list + n]);
    }
  }
  template <typename F>
  void each_definition(Instruction& i, F&& f) {
    for (Slot* s : {&i.d, &i.e}) {
      if (s->bank == Bank::registers) f(*s);
    }
    for (std::uint32_t n = 0; n < i.list_destinations; ++n) {
      if (program_.slots[i.list + n].bank == Bank::registers) f(program_.slots[i.list + n]);
    }
  }

  // Only registers that occur are counted: nvcc declares a few more.
  void number_registers() {
    number_.assign(bytes_.size(), nowhere);
    const auto add = [&](Slot& s) {
      if (number_[s.offset] == nowhere) {
        number_[s.offset] = static_cast<std::uint32_t>(originals_.size());
        originals_.push_back(s.offset);
      }
      s.offset = number_[s.offset];
    };
    for (Instruction& i : program_.code) {
      each_use(i, add);
      each_definition(i, add);
    }
    words_ = originals_.size() / 64 + 1;
  }

  void cut_blocks() {
    const auto size = static_cast<std::uint32_t>(program_.code.size());
    std::vector<bool> starts(size + 1, false);
    starts[0] = starts[program_.entry] = true;
    for (std::uint32_t at = 0; at < size; ++at) {
      const Instruction& i = program_.code[at];
      if (i.flow == Flow::next || i.flow == Flow::converged || i.flow == Flow::barrier) continue;
      starts[at + 1] = true;
      if (i.flow == Flow::branch || i.flow == Flow::call) starts[i.target] = true;
      if (i.flow == Flow::branch_table) {
        for (const std::uint32_t target : program_.tables[i.target]) starts[target] = true;
      }
    }
    block_of_.resize(size);
    for (std::uint32_t at = 0; at < size; ++at) {
      if (starts[at]) {
        blocks_.push_back({});
        blocks_.back().begin = at;
      }
      blocks_.back().end = at + 1;
      block_of_[at] = static_cast<std::uint32_t>(blocks_.size() - 1);
    }
    if (blocks_.size() * words_ > (std::size_t{1} << 26))
      throw std::runtime_error(program_.name + " is too large");
    for (Block& block : blocks_) connect(block);
  }

  void connect(Block& block) {
    const Instruction& last = program_.code[block.end - 1];
    const auto go = [&](std::uint32_t at) {
      if (at < program_.code.size()) block.next.push_back(block_of_[at]);
    };
    const bool falls =
        last.guarded || (last.flow != Flow::branch && last.flow != Flow::branch_table &&
                         last.flow != Flow::call && last.flow != Flow::ret && last.flow != Flow::exit);
    if (falls) go(block.end);
    if (last.flow == Flow::branch || last.flow == Flow::call) go(last.target);
    if (last.flow == Flow::branch_table) {
      for (const std::uint32_t target : program_.tables[last.target]) go(target);
    }
    if (last.flow == Flow::ret && last.a.bank == Bank::registers) {
      for (std::uint32_t at = 0; at < program_.code.size(); ++at) {
        const Instruction& call = program_.code[at];
        if (call.flow == Flow::call && call.d.offset == last.a.offset) go(at + 1);
      }
    }
  }

  void solve() {
    for (Block& b : blocks_) {
      b.uses.assign(words_, 0);
      b.kills.assign(words_, 0);
      b.in.assign(words_, 0);
      b.out.assign(words_, 0);
      for (std::uint32_t at = b.end; at-- > b.begin;) {
        Instruction& i = program_.code[at];
        if (!i.guarded) {
          each_definition(i, [&](const Slot& s) {
            set(b.kills, s.offset);
            clear(b.uses, s.offset);
          });
        }
        each_use(i, [&](const Slot& s) { set(b.uses, s.offset); });
      }
    }
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t n = blocks_.size(); n-- > 0;) {
        Block& b = blocks_[n];
        for (std::size_t w = 0; w < words_; ++w) {
          std::uint64_t out = b.out[w];
          for (const std::uint32_t next : b.next) out |= blocks_[next].in[w];
          const std::uint64_t in = b.uses[w] | (out & ~b.kills[w]);
          changed |= in != b.in[w] || out != b.out[w];
          b.in[w] = in;
          b.out[w] = out;
        }
      }
    }
  }

  void find_suspects() {
    suspect_.assign(originals_.size(), nowhere);
    const Bits& in = blocks_[block_of_[program_.entry]].in;
    const auto suspect = [&](std::uint32_t r) {
      if (suspect_[r] == nowhere) suspect_[r] = program_.suspects++;
    };
    for (std::uint32_t r = 0; r < originals_.size(); ++r) {
      if (get(in, r)) suspect(r);
    }
    for (std::uint32_t before = nowhere; before != program_.suspects;) {
      before = program_.suspects;
      for (const Instruction& i : program_.code) {
        if (i.copies && i.a.bank == Bank::registers && suspect_[i.a.offset] != nowhere &&
            i.d.bank == Bank::registers) {
          suspect(i.d.offset);
        }
      }
    }
    for (Instruction& i : program_.code) {
      i.checks = static_cast<std::uint32_t>(program_.checks.size());
      const auto check = [&](std::uint16_t& count) {
        return [&](const Slot& s) {
          if (suspect_[s.offset] == nowhere) return;
          program_.checks.push_back(suspect_[s.offset]);
          ++count;
        };
      };
      i.checks_guard = i.guard.bank == Bank::registers && suspect_[i.guard.offset] != nowhere;
      each_use(i, check(i.uses));
      each_definition(i, check(i.definitions));
    }
  }

  struct Life {
    std::uint32_t begin = nowhere, end = 0, place = 0;
    void include(std::uint32_t at) {
      begin = std::min(begin, at);
      end = std::max(end, at);
    }
  };

  void place() {
    std::vector<Life> lives(originals_.size());
    for (const Block& b : blocks_) {
      for (std::uint32_t r = 0; r < lives.size(); ++r) {
        if (get(b.in, r)) lives[r].include(b.begin);
        if (get(b.out, r)) lives[r].include(b.end - 1);
      }
    }
    for (std::uint32_t at = 0; at < program_.code.size(); ++at) {
      const auto include = [&](const Slot& s) { lives[s.offset].include(at); };
      each_use(program_.code[at], include);
      each_definition(program_.code[at], include);
    }
    give_places(lives);
    const auto patch = [&](Slot& s) { s.offset = lives[s.offset].place; };
    for (Instruction& i : program_.code) {
      each_use(i, patch);
      each_definition(i, patch);
    }
  }

  void give_places(std::vector<Life>& lives) {
    std::vector<std::uint32_t> order(lives.size());
    for (std::uint32_t r = 0; r < order.size(); ++r) order[r] = r;
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return lives[a].begin < lives[b].begin; });
    using Ending = std::pair<std::uint32_t, std::uint32_t>;
    std::priority_queue<Ending, std::vector<Ending>, std::greater<>> ending;
    std::map<std::uint32_t, std::vector<std::uint32_t>> free;  // by size
    for (const std::uint32_t r : order) {
      while (!ending.empty() && ending.top().first < lives[r].begin) {
        const std::uint32_t ended = ending.top().second;
        free[bytes_[originals_[ended]]].push_back(lives[ended].place);
        ending.pop();
      }
      const std::uint32_t bytes = bytes_[originals_[r]];
      if (free[bytes].empty()) {
        lives[r].place = static_cast<std::uint32_t>(program_.register_bytes);
        program_.register_bytes += std::max<std::uint32_t>(bytes, 32);
      } else {
        lives[r].place = free[bytes].back();
        free[bytes].pop_back();
      }
      ending.push({lives[r].end, r});
    }
  }

  Program& program_;
  const std::vector<std::uint32_t>& bytes_;
  std::vector<std::uint32_t> number_, originals_, block_of_, suspect_;
  std::vector<Block> blocks_;
  std::size_t words_ = 0;
};

}  // namespace

void place_registers(Program& program, const std::vector<std::uint32_t>& register_bytes) {
  Placement(program, register_bytes).run();
}

}  // namespace lorikeet::ptx
