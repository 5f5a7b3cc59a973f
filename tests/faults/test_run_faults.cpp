// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>

#include "core/base/files.h"
#include "kernels/base/error.h"
#include "tests/app/cli_support.h"
#include "tests/faults/small_run.h"
#include "tests/support/file_faults.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

#ifdef LORIKEET_ALL_POINTS
constexpr int every_nth_change = 1;
#else
constexpr int every_nth_change = 29;  // each costs a run
#endif

/// What a run does while its disk is full, read-only or gone.
class TestRunFaults : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::unique_ptr<SmallRuns> runs_;
  std::string whole_;

  std::string fresh(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// Breaks something when step `step` is said, mends it when the run waits, and asks it to try again.
  struct Trouble {
    std::string run;
    std::int64_t step = 3;
    std::function<void()> break_it, mend_it;
    int waits = 0;
    std::string why;
    bool broken = false;

    SmallRuns::Watch watch() {
      return [this](const RunProgress& progress) {
        if (progress.step && progress.step->step == step && !std::exchange(broken, true)) break_it();
        if (progress.state != RunState::waiting) return;
        ++waits;
        why = progress.why;
        mend_it();
        RunFolder::open(run).request(ControlRequest::resume);
      };
    }
  };

  void verify_as_undisturbed(const std::string& run, Trouble& trouble) {
    QCOMPARE(trouble.waits, 1);
    QVERIFY2(!trouble.why.empty(), "nothing was said");
    QVERIFY(adapter_bytes(run) == adapter_bytes(whole_));
    QVERIFY(comparable_events(run) == comparable_events(whole_));
    const RunHistory history = RunFolder::open(run).read_history();
    QCOMPARE(history.state, RunState::done);
    for (const auto& warning : history.warnings)
      QVERIFY2(warning.code != "broken_line", warning.what.c_str());
  }

 private slots:
  void initTestCase() {
    runs_ = std::make_unique<SmallRuns>(folder_.path().toStdString());
    whole_ = fresh("whole");
    QCOMPARE(runs_->begin(whole_), RunEnd::done);
    QCOMPARE(RunFolder::open(whole_).read_history().steps.size(), std::size_t{6});
  }

  void R04_a_disk_that_takes_nothing_pauses_the_run_until_it_does_data() {
    QTest::addColumn<int>("error");
    QTest::addColumn<QString>("part");
    QTest::addColumn<int>("step");
    const auto row = [](const char* name, int error, const char* part, int step) {
      QTest::newRow(name) << error << QString(part) << step;
    };
    row("full, at an event", ENOSPC, "/events.jsonl", 2);
    row("full, at a checkpoint", ENOSPC, "/checkpoints", 3);
    row("full, at the end", ENOSPC, "/adapter", 6);
    row("over quota, at a checkpoint", EDQUOT, "/checkpoints", 3);
    row("read-only, at an evaluation and its samples", EROFS, "/events.jsonl", 3);
    row("read-only, everywhere", EROFS, "/", 3);
    row("broken, at a checkpoint", EIO, "/checkpoints", 1);
    row("R07 a rename that is denied", EACCES, "/checkpoints/step-4", 3);
  }
  void R04_a_disk_that_takes_nothing_pauses_the_run_until_it_does() {
    QFETCH(int, error);
    QFETCH(QString, part);
    QFETCH(int, step);
    const std::string run =
        fresh("disk-" + std::to_string(QTest::currentDataTag()[0]) + part.toStdString().substr(1, 4) +
              std::to_string(step) + std::to_string(error));
    Trouble trouble{run, step,
                    [&] { arm_file_fault(FaultKind::fail_on, 1, run + part.toStdString(), error); },
                    [] { disarm_file_fault(); }};
    QCOMPARE(runs_->begin(run, SmallRuns::settings(), trouble.watch()), RunEnd::done);
    disarm_file_fault();
    verify_as_undisturbed(run, trouble);
  }

  void a_run_folder_that_is_moved_away_is_waited_for() {
    const std::string run = fresh("moved"), away = fresh("away");
    Trouble trouble{run, 3, [&] { fs::rename(run, away); }, [&] { fs::rename(away, run); }};
    QCOMPARE(runs_->begin(run, SmallRuns::settings(), trouble.watch()), RunEnd::done);
    verify_as_undisturbed(run, trouble);
    QVERIFY2(trouble.why.find("moved or removed") != std::string::npos, trouble.why.c_str());
  }

  void a_run_folder_that_is_removed_goes_on_in_a_copy() {
    const std::string run = fresh("removed"), copy = fresh("copy");
    Trouble trouble{run, 3,
                    [&] {
                      fs::copy(run, copy, fs::copy_options::recursive);
                      fs::remove_all(run);
                    },
                    [&] { fs::rename(copy, run); }};
    bool alive = false;
    auto watch = trouble.watch();
    QCOMPARE(runs_->begin(run, SmallRuns::settings(),
                          [&](const RunProgress& progress) {
                            watch(progress);
                            if (progress.step && progress.step->step == 5)
                              alive = RunFolder::open(run).is_alive();
                          }),
             RunEnd::done);
    verify_as_undisturbed(run, trouble);
    QVERIFY2(alive, "nobody holds the lock of the copy");
  }

  void a_stop_ends_a_run_whose_folder_is_gone() {
    const std::string run = fresh("gone");
    std::stop_source source;
    RunJobOptions options;
    options.stop = source.get_token();
    options.progress = [&](const RunProgress& progress) {
      if (progress.step && progress.step->step == 3) fs::remove_all(run);
      if (progress.state == RunState::waiting) source.request_stop();
    };
    RunFolder folder = RunFolder::create(run, runs_->job());
    try {
      run_job(folder, options);
      QFAIL("it went on");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::cancelled);
    }
  }

  void every_failure_of_a_file_in_a_run_leads_to_the_same_end() {
    const std::string run = fresh("each");
    const auto mend = [&](const RunProgress& progress) {
      if (progress.state == RunState::waiting) RunFolder::open(run).request(ControlRequest::resume);
    };
    int points = 0, ended = 0, last = 0;
    for (int nth = 1;; nth += every_nth_change) {
      fs::remove_all(run);
      std::string point;
      try {
        RunFolder folder = RunFolder::create(run, runs_->job());
        arm_file_fault(FaultKind::fail, nth, run, EIO);
        RunJobOptions options;
        options.progress = mend;
        run_job(folder, options);
        last = disarm_file_fault();
        point = met_file_fault();
      } catch (const Error& error) {
        // While loading there is nothing to lose yet: the error ends the run, which can be begun again.
        disarm_file_fault();
        point = met_file_fault();
        QVERIFY2(error.code() == ErrorCode::io, (point + ": " + error.what()).c_str());
        ++ended;
        QCOMPARE(runs_->go_on(run, mend), RunEnd::done);
      }
      if (point.empty()) break;
      ++points;
      QVERIFY2(adapter_bytes(run) == adapter_bytes(whole_), point.c_str());
      QVERIFY2(comparable_events(run) == comparable_events(whole_), point.c_str());
    }
    qInfo("%d of %d points tried, %d of them ended the run, which then went on", points, last, ended);
    QVERIFY(points > 5);
  }
};

QTEST_GUILESS_MAIN(TestRunFaults)
#include "test_run_faults.moc"
