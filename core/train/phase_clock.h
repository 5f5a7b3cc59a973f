// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lorikeet {

/// What a run spends its time on.
enum class Phase : std::uint8_t { load, train, evaluate, sample, save, wait, count };
const char* to_string(Phase phase);

/// Seconds by phase, one phase at a time; sums over the parts of a resumed run.
class PhaseClock {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Seconds = std::vector<std::pair<std::string, double>>;

  explicit PhaseClock(Time now) : since_(now) {}
  /// The time up to now belongs to the phase before; returns that phase.
  Phase enter(Phase phase, Time now) {
    seconds_[static_cast<std::size_t>(phase_)] += std::chrono::duration<double>(now - since_).count();
    since_ = now;
    return std::exchange(phase_, phase);
  }
  /// Adds what earlier parts of the run said; unknown names are left out.
  void add(const Seconds& before);
  Seconds seconds(Time now);  ///< in the order of Phase, phases without time left out

 private:
  Phase phase_ = Phase::load;
  Time since_;
  std::array<double, static_cast<std::size_t>(Phase::count)> seconds_{};
};

/// A phase for the length of a scope.
class InPhase {
 public:
  InPhase(PhaseClock& clock, Phase phase)
      : clock_(clock), before_(clock.enter(phase, std::chrono::steady_clock::now())) {}
  InPhase(const InPhase&) = delete;
  InPhase& operator=(const InPhase&) = delete;
  ~InPhase() { clock_.enter(before_, std::chrono::steady_clock::now()); }

 private:
  PhaseClock& clock_;
  Phase before_;
};

}  // namespace lorikeet
