// SPDX-License-Identifier: Apache-2.0
#include "core/train/readback.h"

#include <chrono>
#include <thread>

namespace lorikeet {

void Readback::wait(const std::function<void()>& between) {
  using namespace std::chrono_literals;
  constexpr auto nap = 200us;
  constexpr auto look_every = 20ms;
  auto next_look = std::chrono::steady_clock::now();
  while (!backend_.arrived(*buffer_)) {
    if (between && std::chrono::steady_clock::now() >= next_look) {
      between();
      next_look = std::chrono::steady_clock::now() + look_every;
    }
    std::this_thread::sleep_for(nap);
  }
  backend_.wait(*buffer_);
}

}  // namespace lorikeet
