// SPDX-License-Identifier: Apache-2.0
#include "tests/ptx/schedule.h"

#include <stdexcept>
#include <utility>

namespace lorikeet::ptx {

WorkPtr Schedule::add(std::function<void()> run, const std::vector<WorkPtr>& after) {
  auto work = std::make_shared<Work>();
  work->run = std::move(run);
  for (const WorkPtr& earlier : after) {
    if (!earlier || earlier->done) continue;
    earlier->next.push_back(work);
    ++work->open;
  }
  if (work->open == 0) ready_.push_back(work);
  return work;
}

std::size_t Schedule::choose() {
  if (steps_++ % 32 == 0) mode_ = static_cast<unsigned>(random_() % 3);
  if (mode_ == 0) return random_() % ready_.size();
  if (mode_ == 1) return ready_.size() - 1;
  return random_() % 8 == 0 ? random_() % ready_.size() : 0;
}

bool Schedule::step() {
  if (ready_.empty()) return false;
  const std::size_t chosen = choose();
  const WorkPtr work = ready_[chosen];
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(chosen));
  const std::function<void()> run = std::move(work->run);
  work->run = nullptr;
  run();
  work->done = true;
  for (const WorkPtr& later : std::exchange(work->next, {})) {
    if (--later->open == 0) ready_.push_back(later);
  }
  return true;
}

void Schedule::finish(const WorkPtr& work) {
  while (work && !work->done) {
    if (!step())
      throw std::logic_error("work of the emulated device waits for something that was never given");
  }
}

void Schedule::finish_all() {
  while (step()) {
  }
}

void Schedule::set_seed(std::uint64_t seed) {
  random_.seed(seed);
  steps_ = 0;
}

}  // namespace lorikeet::ptx
