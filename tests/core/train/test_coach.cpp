// SPDX-License-Identifier: Apache-2.0
// The coach on real runs of the sample model: twelve that go wrong in a known way and ten that do not. Each
// is a job as a person could write it, trained by run_job from a run folder; the coach reads what
// events.jsonl says.
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "core/train/run_report.h"
#include "tests/core/train/coach_runs.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

void add_rows(const std::vector<CoachScript>& scripts) {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < scripts.size(); ++i)
    QTest::newRow(scripts[i].name.c_str()) << static_cast<int>(i);
}

}  // namespace

class TestCoach : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  CoachRuns runs_{folder_.path().toStdString()};
  int named_ = 0;

 private slots:
  void failures_are_named_data() { add_rows(failing_scripts()); }
  void failures_are_named() {
    QFETCH(int, index);
    const CoachScript& script = failing_scripts()[static_cast<std::size_t>(index)];
    const auto [history, settings] = runs_.run(script);
    const CoachAnswer answer = answer_to(script, history, settings);
    qInfo("%s", answer.line.c_str());
    named_ += answer.right;
    if (!answer.right) return;
    const Advice& advice = answer.advice.front();
    for (const std::string& text :
         {advice.what.english(), english(advice.evidence), advice.suggestion.english()})
      QVERIFY2(text.size() > 20 && text.find("%1") == std::string::npos, text.c_str());
    Settings next = settings;
    for (const auto& [key, value] : advice.settings)
      set_setting(next, key, value);  // throws when not allowed
  }
  void all_twelve_failures_are_named_right() {
    qInfo("%d of %d named right", named_, static_cast<int>(failing_scripts().size()));
    QCOMPARE(named_, 12);
  }

  void good_runs_give_no_alarm_at_any_time_data() { add_rows(good_scripts()); }
  void good_runs_give_no_alarm_at_any_time() {
    QFETCH(int, index);
    const CoachScript& script = good_scripts()[static_cast<std::size_t>(index)];
    const auto [history, settings] = runs_.run(script);
    QVERIFY(history.done.has_value());
    qInfo("%-52s loss %.3f -> %.3f", script.name.c_str(), history.steps.front().loss,
          history.steps.back().loss);
    QCOMPARE(QString::fromStdString(first_alarm(history, settings)), QString());
  }

  void a_run_tells_norms_data_and_phases() {
    const auto [history, settings] = runs_.run({"facts", {{"max-steps", "12"}, {"eval-every", "6"}}, {}});
    QVERIFY(history.data && history.data->rows > 0 && history.data->trained_tokens < history.data->tokens);
    QCOMPARE(history.norms.size(), std::size_t{12});
    for (const auto& norms : history.norms) {
      double squares = 0;
      for (const double gradient : norms.gradient) squares += gradient * gradient;
      const double whole = history.steps[static_cast<std::size_t>(norms.step - 1)].grad_norm;
      QVERIFY(std::abs(std::sqrt(squares) - whole) <= 1e-3 * whole);
      QCOMPARE(norms.update.size(), norms.gradient.size());
      for (const double parameter : norms.parameter) QVERIFY(parameter > 0);
    }
    double sum = 0;
    for (const auto& [name, seconds] : history.seconds_by_phase) sum += seconds;
    const auto has = [&](const char* phase) {
      return std::any_of(history.seconds_by_phase.begin(), history.seconds_by_phase.end(),
                         [&](const auto& entry) { return entry.first == phase; });
    };
    QVERIFY(has("load") && has("train") && has("evaluate") && has("save"));
    QVERIFY(sum >= history.steps.back().elapsed_seconds * 0.9);

    const Json report = run_report(history, settings);
    QCOMPARE(report["steps"].get<int>(), 12);
    QCOMPARE(report["evaluations"].size(), std::size_t{3});
    QCOMPARE(report["layers"].size(), history.norms.back().update.size());
    QVERIFY(report["layers"][0]["update_share"].get<double>() > 0);
    QVERIFY(report["phases"]["train"]["share"].get<double>() > 0);
    QCOMPARE(report["rows"]["training"].get<std::int64_t>(), history.data->rows);
    QVERIFY(report["coach"].is_array());
  }
};

QTEST_GUILESS_MAIN(TestCoach)
#include "test_coach.moc"
