// SPDX-License-Identifier: Apache-2.0
// The times a run reports, with a clock that the test moves.
#include <QtTest>

#include "core/train/run_clock.h"

using namespace lorikeet;
using namespace std::chrono_literals;

class TestRunClock : public QObject {
  Q_OBJECT

  RunClock clock_;
  RunClock::Time now_{};

  double step_of(std::chrono::milliseconds length) {
    now_ += length;
    return clock_.end_step(now_);
  }

 private slots:
  void init() {
    clock_ = {};
    now_ = RunClock::Time{} + 1000s;
    clock_.start(now_, 50);
    clock_.begin_step(now_);
  }

  void steps_are_measured_from_end_to_end_where_the_device_has_the_next_one_already() {
    QCOMPARE(clock_.step_seconds(), 0.0);
    QCOMPARE(step_of(2s), 2.0);
    QCOMPARE(step_of(3s), 3.0);
    QCOMPARE(clock_.step_seconds(), 0.8 * 2 + 0.2 * 3);
    QCOMPARE(clock_.elapsed_seconds(now_), 55.0);
  }

  void a_pause_counts_in_no_time() {
    step_of(2s);
    const auto left = now_;
    now_ += 3600s;
    clock_.was_away(left, now_);
    // The device was given this step before the pause: what it took is not known.
    QCOMPARE(step_of(1ms), 2.0);
    QCOMPARE(clock_.step_seconds(), 2.0);
    QCOMPARE(clock_.elapsed_seconds(now_), 52.001);
    QCOMPARE(step_of(3s), 3.0);
  }

  void a_step_that_begins_after_a_pause_is_measured() {
    step_of(2s);
    const auto left = now_;
    now_ += 3600s;
    clock_.was_away(left, now_);
    now_ += 7s;  // an evaluation
    clock_.begin_step(now_);
    QCOMPARE(step_of(3s), 3.0);
    QCOMPARE(clock_.elapsed_seconds(now_), 62.0);
  }

  void a_wait_for_the_disk_within_the_first_step_is_left_out_of_it() {
    now_ += 1s;
    const auto left = now_;
    now_ += 600s;
    clock_.was_away(left, now_);
    QCOMPARE(step_of(1s), 2.0);
    QCOMPARE(clock_.elapsed_seconds(now_), 52.0);
  }

  void what_is_done_between_two_steps_is_in_neither() {
    step_of(2s);
    now_ += 60s;  // a checkpoint, while the device is at the next step
    clock_.interrupt();
    QCOMPARE(step_of(1s), 2.0);
    QCOMPARE(clock_.elapsed_seconds(now_), 50.0 + 63);
  }
};

QTEST_GUILESS_MAIN(TestRunClock)
#include "test_run_clock.moc"
