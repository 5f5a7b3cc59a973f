// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <omp.h>

#include <atomic>
#include <cstdint>

namespace lorikeet {

/// One OpenMP team that works through numbered tasks in a few phases without leaving the parallel region,
/// because waking sleeping threads costs as much as a small product. Which thread takes a task is left to
/// chance, so a task's result may depend on its number only. Libraries called inside see one thread.
class Team {
 public:
  static constexpr int max_phases = 4;

  explicit Team(int threads) : threads_(threads) {}
  int threads() const { return threads_; }

  /// Whether so many multiplications are worth waking other threads.
  static bool worth(std::int64_t multiplications) { return multiplications > 2'000'000; }

  /// Calls body(thread) on each of the threads, or once on the caller when `parallel` is false; `body` must
  /// not throw.
  template <typename Body>
  void run(bool parallel, const Body& body) {
    for (auto& counter : next_) counter.store(0, std::memory_order_relaxed);
    arrived_.store(0, std::memory_order_relaxed);
#pragma omp parallel num_threads(threads_) if (parallel && threads_ > 1)
    {
      omp_set_num_threads(1);
      body(omp_get_thread_num());
    }
  }

  /// Inside run: calls task(i) for those i in [0, count) that this thread gets.
  template <typename Task>
  void share(int phase, std::int64_t count, const Task& task) {
    for (;;) {
      const std::int64_t i = next_[phase].fetch_add(1, std::memory_order_relaxed);
      if (i >= count) return;
      task(i);
    }
  }

  /// Inside run: waits for all threads. Spins for as long as a short task takes, since the others are awake,
  /// and sleeps then, so that a machine with other work gives its time to the threads that are waited for.
  void barrier() {
    const int team = omp_get_num_threads();
    const int before = arrived_.fetch_add(1, std::memory_order_acq_rel);
    const int target = (before / team + 1) * team;
    if (before + 1 == target) return arrived_.notify_all();
    for (int spins = 0; spins < 2000; ++spins) {
      if (arrived_.load(std::memory_order_acquire) >= target) return;
      __builtin_ia32_pause();
    }
    for (int now = arrived_.load(std::memory_order_acquire); now < target;
         now = arrived_.load(std::memory_order_acquire)) {
      arrived_.wait(now, std::memory_order_acquire);
    }
  }

 private:
  const int threads_;
  std::atomic<std::int64_t> next_[max_phases] = {};
  std::atomic<int> arrived_{0};
};

}  // namespace lorikeet
