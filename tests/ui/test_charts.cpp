// SPDX-License-Identifier: GPL-3.0-or-later
#include <QtTest>
#include <cmath>

#include "ui/charts/loss_chart.h"
#include "ui/charts/mini_chart.h"
#include "ui/widgets/theme.h"

using namespace lorikeet;
using namespace lorikeet::ui;

namespace {

std::vector<StepEvent> steps(std::int64_t from, std::int64_t to) {
  std::vector<StepEvent> list;
  for (std::int64_t i = from; i <= to; ++i) {
    StepEvent step;
    step.step = i;
    step.loss = 1 + 1.0 / static_cast<double>(i);
    step.epoch = static_cast<double>(i) / 100;
    step.tokens = i * 1000;
    step.elapsed_seconds = static_cast<double>(i) * 2;
    list.push_back(step);
  }
  return list;
}

}  // namespace

/// What a chart is given and what it shows, without looking at pixels.
class TestCharts : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    QLocale::setDefault(QLocale(QLocale::English));
    new Theme(static_cast<QApplication&>(*qApp));
  }

  void smoothing_of_a_constant_is_that_constant_from_the_first_step_on() {
    RunSeries series;
    std::vector<StepEvent> list = steps(1, 50);
    for (StepEvent& step : list) step.loss = 2.5;
    series.append(list);
    for (const double value : series.smoothed()) QVERIFY(std::fabs(value - 2.5) < 1e-12);
  }

  void smoothing_step_by_step_is_the_same_as_at_once() {
    RunSeries at_once, piecewise;
    at_once.append(steps(1, 200));
    for (std::int64_t i = 1; i <= 200; ++i) piecewise.append(steps(i, i));
    for (std::size_t i = 0; i < 200; ++i)
      QVERIFY(std::fabs(at_once.smoothed()[i] - piecewise.smoothed()[i]) < 1e-12);
    at_once.setSmoothing(0);
    for (std::size_t i = 0; i < 200; ++i) QCOMPARE(at_once.smoothed()[i], at_once.steps()[i].loss);
  }

  void a_loss_that_is_not_a_number_does_not_spoil_what_follows() {
    RunSeries series;
    std::vector<StepEvent> list = steps(1, 10);
    list[4].loss = std::nan("");
    series.append(list);
    QVERIFY(std::isfinite(series.smoothed().back()));
  }

  void positions_follow_the_axis() {
    RunSeries series;
    series.append(steps(1, 100));
    QCOMPARE(series.position(series.steps()[49], RunAxis::step), 50.0);
    QCOMPARE(series.position(series.steps()[49], RunAxis::epoch), 0.5);
    QCOMPARE(series.position(series.steps()[49], RunAxis::tokens), 50000.0);
    QCOMPARE(series.positionOf(50, RunAxis::tokens), 50000.0);
    QCOMPARE(series.nearest(49.6, RunAxis::step), 49);
    QCOMPARE(series.nearest(-5, RunAxis::step), 0);
    QCOMPARE(series.nearest(1e9, RunAxis::step), 99);
    QCOMPARE(series.end(400, RunAxis::step), 400.0);
    QCOMPARE(series.end(400, RunAxis::tokens), 400000.0);
    QCOMPARE(RunSeries().nearest(3, RunAxis::step), -1);
  }

  void the_cursor_walks_by_keys_and_tells_its_step() {
    LossChart chart;
    chart.resize(600, 300);
    chart.setTotalSteps(200);
    chart.appendSteps(steps(1, 100));
    chart.setEvaluations({{50, 1.2, 3.3, 0.7, 100}});
    chart.show();
    QVERIFY(QTest::qWaitForWindowExposed(&chart));
    QSignalSpy moved(&chart, &LossChart::cursorMoved);
    QCOMPARE(chart.cursorStep(), -1);
    QTest::keyClick(&chart, Qt::Key_Left);
    QCOMPARE(chart.cursorStep(), 100);
    QTest::keyClick(&chart, Qt::Key_Left, Qt::ShiftModifier);
    QCOMPARE(chart.cursorStep(), 90);
    QTest::keyClick(&chart, Qt::Key_Right);
    QCOMPARE(chart.cursorStep(), 91);
    QTest::keyClick(&chart, Qt::Key_Escape);
    QCOMPARE(chart.cursorStep(), -1);
    QCOMPARE(moved.count(), 4);
  }

  void the_chart_says_its_state_in_words() {
    LossChart chart;
    chart.resize(400, 200);
    QVERIFY(chart.accessibleName().isEmpty() || chart.accessibleName().contains("no step"));
    chart.setTotalSteps(80);
    chart.appendSteps(steps(1, 40));
    chart.replotNow();
    QVERIFY2(chart.accessibleName().contains("step 40 of 80"), qPrintable(chart.accessibleName()));
  }

  void values_can_be_taken_away_as_csv() {
    LossChart chart;
    chart.appendSteps(steps(1, 3));
    chart.setEvaluations({{2, 1.25, 3.4, 0.7, 100}});
    const QStringList lines = chart.csv().split('\n', Qt::SkipEmptyParts);
    QCOMPARE(lines.size(), 4);
    QVERIFY(lines[0].startsWith("step,epoch,loss,smoothed,evaluation"));
    QCOMPARE(lines[2].section(',', 0, 0), QStringLiteral("2"));
    QCOMPARE(lines[2].section(',', 4, 4), QStringLiteral("1.25"));
    QCOMPARE(lines[3].section(',', 4, 4), QString());
  }

  void pictures_and_pdf_are_written() {
    QTemporaryDir folder;
    LossChart chart;
    chart.resize(500, 260);
    chart.appendSteps(steps(1, 100));
    QVERIFY(chart.savePicture(folder.filePath("loss.png")));
    QCOMPARE(QImage(folder.filePath("loss.png")).size(), QSize(1000, 520));
    QVERIFY(chart.savePdf(folder.filePath("loss.pdf")));
    QVERIFY(QFileInfo(folder.filePath("loss.pdf")).size() > 500);
    QVERIFY(!chart.savePicture(folder.filePath("no/such/folder/loss.png")));
  }

  void a_hundred_thousand_points_stay_smooth() {
    LossChart chart;
    chart.resize(1100, 480);
    chart.appendSteps(steps(1, 100000));
    chart.replotNow();  // fonts and caches
    QElapsedTimer timer;
    timer.start();
    chart.appendSteps(steps(100001, 100100));
    chart.replotNow();
    // About 15 ms alone; the bound leaves room for a busy machine, the slow path of thick pens takes seconds.
    QVERIFY2(timer.elapsed() < 400, qPrintable(QString::number(timer.elapsed())));
  }

  void a_small_chart_shows_its_newest_value() {
    MiniChart chart(QStringLiteral("Tokens a second"), [](double v) { return QString::number(v, 'f', 0); });
    chart.resize(240, 90);
    chart.append({1, 2, 3}, {10, 20, 30});
    QCOMPARE(chart.points(), std::size_t{3});
    QVERIFY(chart.accessibleName().endsWith(": 30"));
    chart.clear();
    QCOMPARE(chart.points(), std::size_t{0});
  }

  void the_histogram_counts_every_row_and_splits_at_the_limit() {
    Histogram histogram;
    histogram.resize(260, 120);
    histogram.setLengths({10, 20, 30, 500, 600}, 512);
    QVERIFY(histogram.barCount() >= 3);
    QVERIFY(histogram.accessibleName().contains("5 rows"));
    histogram.setLengths({}, 512);
    histogram.setLengths({7}, 0);
    QCOMPARE(histogram.barCount(), 1);
  }
};

QTEST_MAIN(TestCharts)
#include "test_charts.moc"
