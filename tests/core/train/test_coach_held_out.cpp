// SPDX-License-Identifier: Apache-2.0
// The coach on other runs than test_coach's: other seeds, rates, ranks, batch sizes, schedules, lengths,
// another model and other rows. What they showed to be fitted was mended, so they guard against going back;
// they are no longer unseen.
#include <QtTest>

#include "tests/core/train/coach_runs.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestCoachHeldOut : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  CoachRuns runs_{folder_.path().toStdString()};

 private slots:
  void nearly_all_failures_are_named_right() {
    int named = 0, tried = 0;
    for (const auto& script : held_out_failing_scripts()) {
      if (!CoachRuns::possible(script)) {
        qInfo("%s: skipped, needs the test data", script.name.c_str());
        continue;
      }
      const auto [history, settings] = runs_.run(script);
      const CoachAnswer answer = answer_to(script, history, settings);
      qInfo("%s", answer.line.c_str());
      named += answer.right;
      ++tried;
    }
    qInfo("%d of %d named right", named, tried);
    QVERIFY(tried >= 10);
    QVERIFY2(12 * named >= 11 * tried, qPrintable(QString::number(named)));
  }

  void good_runs_give_no_alarm_at_any_time() {
    for (const auto& script : held_out_good_scripts()) {
      if (!CoachRuns::possible(script)) {
        qInfo("%s: skipped, needs the test data", script.name.c_str());
        continue;
      }
      const auto [history, settings] = runs_.run(script);
      qInfo("%-52s loss %.3f -> %.3f", script.name.c_str(), history.steps.front().loss,
            history.steps.back().loss);
      QVERIFY(history.done.has_value());
      QCOMPARE(QString::fromStdString(first_alarm(history, settings)), QString());
    }
  }
};

QTEST_GUILESS_MAIN(TestCoachHeldOut)
#include "test_coach_held_out.moc"
