// SPDX-License-Identifier: Apache-2.0
#include "core/train/phase_clock.h"

namespace lorikeet {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(Phase::count)> names = {
    "load", "train", "evaluate", "sample", "save", "wait"};

}  // namespace

const char* to_string(Phase phase) {
  return names.at(static_cast<std::size_t>(phase));
}

void PhaseClock::add(const Seconds& before) {
  for (const auto& [name, seconds] : before) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (name == names[i] && seconds > 0) seconds_[i] += seconds;
    }
  }
}

PhaseClock::Seconds PhaseClock::seconds(Time now) {
  enter(phase_, now);
  Seconds result;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (seconds_[i] > 0) result.emplace_back(names[i], seconds_[i]);
  }
  return result;
}

}  // namespace lorikeet
