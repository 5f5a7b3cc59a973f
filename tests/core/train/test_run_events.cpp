// SPDX-License-Identifier: Apache-2.0
// What a run says of steps that were skipped.
#include <QtTest>
#include <cmath>

#include "core/train/loss_scale.h"
#include "core/train/run_events.h"

using namespace lorikeet;

class TestRunEvents : public QObject {
  Q_OBJECT
  QTemporaryDir parent_;
  int number_ = 0;
  std::int64_t step_ = 0;

  RunFolder new_folder() {
    Job job;
    job.model_path = "model";
    RunFolder folder =
        RunFolder::create(parent_.path().toStdString() + "/run-" + std::to_string(++number_), job);
    folder.lock();
    return folder;
  }
  StepReport report(double loss, double loss_scale, bool skipped) {
    StepReport report;
    report.step = ++step_;
    report.loss = loss;
    report.grad_norm = skipped ? INFINITY : 1;
    report.tokens = report.trained_tokens = 10;
    report.skipped = skipped;
    report.loss_scale = loss_scale;
    report.rows = {7, 9};
    return report;
  }
  static std::vector<std::string> codes(const RunFolder& folder) {
    std::vector<std::string> codes;
    for (const WarningEvent& warning : folder.read_history().warnings) codes.push_back(warning.code);
    return codes;
  }

 private slots:
  void init() { step_ = 0; }

  void the_search_for_the_loss_scale_is_told_once_and_blames_no_row() {
    RunFolder folder = new_folder();
    RunJobOptions options;
    RunControl control(folder, {});
    RunClock clock;
    {
      RunEvents events(folder, options, control, clock);
      for (const double scale : {65536.0, 65536.0, 32768.0, 16384.0, 8192.0})
        events.step(report(2.5, scale, true), 10, 0, 1);
      events.step(report(2.5, 4096, false), 10, 0, 1);
    }
    QCOMPARE(codes(folder), std::vector<std::string>{"loss_scale_search"});
    QVERIFY(folder.read_history().warnings[0].what.find("rows 7") == std::string::npos);
    QCOMPARE(folder.read_history().steps.size(), std::size_t{6});
    RunEvents resumed(folder, options, control, clock);
    resumed.take_history(folder.read_history());
    resumed.step(report(2.5, 8192, true), 10, 0, 1);  // after 2,000 good steps it is tried again
    QCOMPARE(codes(folder).size(), std::size_t{1});
  }

  void rows_that_give_no_number_are_named_data() {
    QTest::addColumn<double>("loss_scale");
    QTest::addColumn<double>("loss");
    QTest::newRow("f32") << 1.0 << double{NAN};
    QTest::newRow("f32, the gradient only") << 1.0 << 2.5;
    QTest::newRow("f16") << 65536.0 << double{NAN};
    QTest::newRow("f16, at the end of the search") << 1.0 << 2.5;
  }
  void rows_that_give_no_number_are_named() {
    QFETCH(double, loss_scale);
    QFETCH(double, loss);
    RunFolder folder = new_folder();
    RunJobOptions options;
    RunControl control(folder, {});
    RunClock clock;
    RunEvents events(folder, options, control, clock);
    events.step(report(loss, loss_scale, true), 10, 0, 1);
    events.step(report(loss, loss_scale, true), 10, 0, 1);
    QCOMPARE(codes(folder), (std::vector<std::string>{"skipped_step", "skipped_step"}));
    QVERIFY(folder.read_history().warnings[0].what.find("rows 7, 9") != std::string::npos);
  }

  void numbers_that_do_not_fit_f16_are_told_once() {
    RunFolder folder = new_folder();
    RunJobOptions options;
    RunControl control(folder, {});
    RunClock clock;
    RunEvents events(folder, options, control, clock);
    for (int i = 0; i < 3; ++i) events.step(report(2.5, 0.5, false), 10, 0, 1);
    QCOMPARE(codes(folder), std::vector<std::string>{"loss_scale"});
  }
};

QTEST_GUILESS_MAIN(TestRunEvents)
#include "test_run_events.moc"
