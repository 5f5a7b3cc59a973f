// SPDX-License-Identifier: GPL-3.0-or-later
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QtTest>
#include <nlohmann/json.hpp>

#include "tests/ui/run_maker.h"
#include "ui/charts/loss_chart.h"
#include "ui/engine/engine_process.h"
#include "ui/engine/run_store.h"
#include "ui/engine/run_tail.h"
#include "ui/engine/run_watcher.h"
#include "ui/frame/main_window.h"
#include "ui/frame/studio.h"
#include "ui/runs/live_run.h"
#include "ui/runs/loss_card.h"
#include "ui/runs/metric_row.h"
#include "ui/runs/runs_page.h"
#include "ui/runs/sample_strip.h"
#include "ui/widgets/banner.h"
#include "ui/widgets/table.h"

using namespace lorikeet;
using namespace lorikeet::ui;

/// Runs as folders: found, followed, shown, asked. The engine is played by this test.
class TestRuns : public QObject {
  Q_OBJECT

 private slots:
  void init() {
    m_home = std::make_unique<QTemporaryDir>();
    qputenv("LORIKEET_HOME", m_home->path().toLocal8Bit());
    m_runs = m_home->path() + QStringLiteral("/runs");
    m_run = {};
    m_run.steps = 30;
    m_run.total = 60;
  }

  void a_tail_reads_only_whole_lines() {
    QTemporaryDir folder;
    QFile file(folder.filePath("events.jsonl"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write(R"({"type":"step","step":1,"loss":2.0,"time":1})"
               "\n"
               R"({"type":"step","st)");
    file.flush();
    RunTail tail(folder.path().toStdString());
    QVERIFY(tail.poll());
    QCOMPARE(tail.history().steps.size(), std::size_t{1});
    QVERIFY(!tail.poll());
    file.write(R"(ep":2,"loss":1.9,"time":2})"
               "\n");
    file.flush();
    QVERIFY(tail.poll());
    QCOMPARE(tail.history().steps.back().step, 2);
    QVERIFY(tail.history().warnings.empty());
    // The torn end of a killed engine is cut away and written anew.
    file.write(R"({"type":"step","step":3,)");
    file.flush();
    tail.poll();
    file.resize(file.size() - 24);
    file.seek(file.size());
    file.write(R"({"type":"resume","from_step":1,"time":3})"
               "\n"
               R"({"type":"step","step":2,"loss":1.8,"time":4})"
               "\n");
    file.flush();
    QVERIFY(tail.poll());
    QCOMPARE(tail.history().steps.size(), std::size_t{2});
    QCOMPARE(tail.history().steps.back().loss, 1.8);
    QVERIFY(tail.history().warnings.empty());
  }

  void a_watcher_sends_additions_and_starts_over_after_a_resume() {
    const QString path = test::makeRun(m_runs, "one", m_run);
    RunWatcher watcher(path);
    std::vector<StepEvent> seen;
    bool alive = true;
    connect(&watcher, &RunWatcher::updated, this, [&](const RunUpdate& update) {
      if (update.reset) seen.clear();
      seen.insert(seen.end(), update.steps.begin(), update.steps.end());
      alive = update.alive;
    });
    watcher.start(10);
    QTRY_COMPARE(seen.size(), std::size_t{30});
    QVERIFY(!alive);
    RunFolder folder = RunFolder::open(path.toStdString());
    folder.lock();
    test::appendSteps(folder, m_run, 31, 35);
    QTRY_COMPARE(seen.size(), std::size_t{35});
    QTRY_VERIFY(alive);
    folder.append({{"type", "resume"}, {"from_step", 20}});
    test::appendSteps(folder, m_run, 21, 22);
    QTRY_COMPARE(seen.size(), std::size_t{22});
    QCOMPARE(seen.back().step, 22);
  }

  void the_store_finds_runs_and_tells_the_live_the_killed_and_the_finished_apart() {
    m_run.state = RunState::done;
    m_run.total = m_run.steps;
    test::makeRun(m_runs, "done", m_run);
    m_run.state = RunState::training;
    m_run.total = 60;
    test::makeRun(m_runs, "killed", m_run);
    const QString live = test::makeRun(m_runs, "live", m_run);
    auto folder = std::make_unique<RunFolder>(RunFolder::open(live.toStdString()));
    folder->lock();
    QDir().mkpath(m_runs + "/not-a-run");
    QFile broken(m_runs + "/broken.txt");
    QVERIFY(broken.open(QIODevice::WriteOnly));

    RunStore store(m_runs);
    QSignalSpy finished(&store, &RunStore::finished);
    store.refresh();
    QTRY_COMPARE(store.runs().size(), std::size_t{3});
    QVERIFY(store.live());
    QCOMPARE(store.live()->path, live);
    QCOMPARE(store.runs().front().path, live);  // what lives stands first
    QVERIFY(store.find(m_runs + "/killed")->killed);
    QVERIFY(store.find(m_runs + "/done")->isDone());
    QCOMPARE(store.find(live)->step, 30);
    QCOMPARE(store.find(live)->totalSteps, 60);

    folder.reset();  // the engine is gone
    store.refresh();
    QTRY_COMPARE(finished.count(), 1);
    QVERIFY(!store.live());
  }

  void a_request_becomes_a_control_file() {
    const QString path = test::makeRun(m_runs, "one", m_run);
    RunStore store(m_runs);
    store.request(path, ControlRequest::checkpoint);
    QTRY_VERIFY(QFile::exists(path + "/control/checkpoint"));
    QSignalSpy failed(&store, &RunStore::requestFailed);
    store.request(m_runs + "/nowhere", ControlRequest::pause);
    QTRY_COMPARE(failed.count(), 1);
  }

  void the_live_page_shows_a_run_that_goes_on_and_asks_it_to_pause() {
    m_run.samples = true;
    m_run.steps = 450;
    m_run.total = 900;
    const QString path = test::makeRun(m_runs, "live", m_run);
    RunFolder folder = RunFolder::open(path.toStdString());
    folder.lock();
    Studio studio(static_cast<QApplication&>(*qApp));
    studio.show();
    MainWindow* window = studio.window();
    QTRY_VERIFY(studio.context().runs->live());  // found again after the window was closed
    window->openRun(path);
    LiveRun* live = static_cast<RunsPage*>(window->page(Place::runs))->liveRun();
    QTRY_COMPARE(live->lossCard()->chart()->series().steps().size(), std::size_t{450});
    QCOMPARE(live->lossCard()->chart()->evaluations().size(), std::size_t{4});
    QVERIFY(live->metrics()->value(0) != QStringLiteral("—"));
    QTRY_VERIFY(live->strip()->isVisible());
    QCOMPARE(live->strip()->shownCards(), 2);
    QVERIFY(!live->banner()->isVisible());
    QCOMPARE(live->primaryButton()->text(), QStringLiteral("Pause"));
    live->primaryButton()->click();
    QTRY_VERIFY(QFile::exists(path + "/control/pause"));
    folder.append({{"type", "state"}, {"state", "paused"}, {"why", ""}});
    folder.acknowledge(ControlRequest::pause);
    QTRY_COMPARE(live->primaryButton()->text(), QStringLiteral("Go on"));
    live->primaryButton()->click();
    QTRY_VERIFY(QFile::exists(path + "/control/resume"));
    folder.append({{"type", "state"}, {"state", "training"}, {"why", ""}});
    test::appendSteps(folder, m_run, 451, 460);
    QTRY_COMPARE(live->lossCard()->chart()->series().steps().size(), std::size_t{460});
  }

  void an_engine_that_died_is_shown_and_nothing_else_is_touched() {
    m_run.steps = 250;
    m_run.total = 600;
    const QString path = test::makeRun(m_runs, "dead", m_run);
    QFile log(path + "/engine.log");
    QVERIFY(log.open(QIODevice::WriteOnly));
    log.write("Killed\n");
    log.close();
    Studio studio(static_cast<QApplication&>(*qApp));
    studio.show();
    MainWindow* window = studio.window();
    window->openRun(path);
    LiveRun* live = static_cast<RunsPage*>(window->page(Place::runs))->liveRun();
    QTRY_VERIFY(live->banner()->isVisible());
    QVERIFY2(live->banner()->sentence().contains("killed after step 250"),
             qPrintable(live->banner()->sentence()));
    QVERIFY(live->banner()->detail().contains("checkpoint of step 200"));
    QCOMPARE(live->primaryButton()->text(), QStringLiteral("Go on from step 200"));
    auto* showLog = live->banner()->findChild<QPushButton*>();
    QVERIFY(showLog);
    showLog->click();
    QPlainTextEdit* text = nullptr;
    QTRY_VERIFY((text = window->findChild<QPlainTextEdit*>(QStringLiteral("log"))) &&
                text->toPlainText().contains("Killed"));
    window->showPlace(Place::home);
    QVERIFY(window->isVisible());
  }

  void an_error_event_stands_in_a_banner_with_what_where_and_what_next() {
    m_run.state = RunState::failed;
    m_run.error = QStringLiteral("Cannot write the checkpoint of step 30: the disk is full");
    const QString path = test::makeRun(m_runs, "failed", m_run);
    Studio studio(static_cast<QApplication&>(*qApp));
    studio.show();
    studio.window()->openRun(path);
    LiveRun* live = static_cast<RunsPage*>(studio.window()->page(Place::runs))->liveRun();
    QTRY_COMPARE(live->banner()->sentence(), m_run.error);
    QVERIFY(live->banner()->detail().contains("Free 212 MB"));
  }

  void the_list_can_be_searched_and_opened_by_keyboard() {
    test::makeRun(m_runs, "one", m_run);
    m_run.name = QStringLiteral("SQL helper");
    const QString second = test::makeRun(m_runs, "two", m_run);
    Studio studio(static_cast<QApplication&>(*qApp));
    studio.show();
    MainWindow* window = studio.window();
    auto* page = static_cast<RunsPage*>(window->page(Place::runs));
    window->showPlace(Place::runs);
    QTRY_COMPARE(page->table()->model()->rowCount(), 2);
    auto* search = qobject_cast<QLineEdit*>(page->searchField());
    search->setFocus();
    QTest::keyClicks(search, "sql");
    QCOMPARE(page->table()->model()->rowCount(), 1);
    page->table()->setFocus();
    page->table()->selectRow(0);
    QTest::keyClick(page->table(), Qt::Key_Return);
    QCOMPARE(page->liveRun()->runPath(), second);
    QVERIFY(page->stepBack());
    QVERIFY(page->table()->isVisible());
  }

  void lines_of_an_engine_are_messages_and_its_words_are_the_reason_of_its_end() {
    EngineProcess engine(QStringLiteral("/bin/sh"));
    QSignalSpy messages(&engine, &EngineProcess::message);
    QSignalSpy ended(&engine, &EngineProcess::ended);
    engine.start(
        {QStringLiteral("-c"), QStringLiteral("printf '{\"type\":\"a\"}\\n{\"type\"'; sleep 0.1; printf "
                                              "':\"b\"}\\nnoise\\n'; echo 'Cannot load' >&2; exit 1")});
    QTRY_COMPARE(ended.count(), 1);
    QCOMPARE(messages.count(), 2);
    QCOMPARE(messages[1][0].toJsonObject().value("type").toString(), QStringLiteral("b"));
    QCOMPARE(ended[0][0].toInt(), 1);
    QCOMPARE(ended[0][1].toString(), QStringLiteral("Cannot load"));
    EngineProcess nothing(QStringLiteral("/no/such/engine"));
    QSignalSpy failed(&nothing, &EngineProcess::ended);
    nothing.start({});
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][1].toString().contains("/no/such/engine"));
  }

  void an_engine_that_is_killed_is_said_to_be() {
    EngineProcess engine(QStringLiteral("/bin/sh"));
    QSignalSpy ended(&engine, &EngineProcess::ended);
    engine.start({QStringLiteral("-c"), QStringLiteral("kill -9 $$")});
    QTRY_COMPARE(ended.count(), 1);
    QVERIFY(ended[0][1].toString().contains("killed"));
  }

 private:
  std::unique_ptr<QTemporaryDir> m_home;
  QString m_runs;
  test::MadeRun m_run;
};

QTEST_MAIN(TestRuns)
#include "test_runs.moc"
