// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace lorikeet::ptx {

/// One thing the emulated device has to do. It may start when all that it comes after is done.
struct Work {
  std::function<void()> run;
  std::vector<std::shared_ptr<Work>> next;  ///< what waits for it
  int open = 0;                             ///< unfinished things it waits for
  bool done = false;
};
using WorkPtr = std::shared_ptr<Work>;

/// Work of all streams. Nothing runs until the host waits; then, of what may start, one after the other is
/// chosen at random: any, mostly the newest or mostly the oldest, so that an order nobody asked for does not
/// happen by itself. The same seed gives the same order.
class Schedule {
 public:
  WorkPtr add(std::function<void()> run, const std::vector<WorkPtr>& after);
  /// Runs one piece of work; false when there is none.
  bool step();
  void finish(const WorkPtr& work);
  void finish_all();
  void set_seed(std::uint64_t seed);

 private:
  std::size_t choose();

  std::vector<WorkPtr> ready_;  ///< oldest first
  std::mt19937_64 random_{1};
  unsigned mode_ = 0, steps_ = 0;
};

}  // namespace lorikeet::ptx
