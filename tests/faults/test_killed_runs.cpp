// SPDX-License-Identifier: Apache-2.0
// Engines that are killed, and others that go on with their runs. LORIKEET_ALL_POINTS: every point instead of
// a few.
#include <sys/types.h>

#include <QElapsedTimer>
#include <QtTest>
#include <csignal>
#include <filesystem>
#include <random>

#include "core/base/files.h"
#include "core/train/run_folder.h"
#include "tests/app/cli_support.h"
#include "tests/support/file_faults.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

#ifdef LORIKEET_ALL_POINTS
constexpr int random_kills = 20, every_nth_change = 1;
#else
constexpr int random_kills = 3, every_nth_change = 29;
#endif

class TestKilledRuns : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString model_, data_;
  std::vector<std::string> events_;
  std::string adapter_;
  qint64 whole_ms_ = 0;

  QString path(const QString& name) const { return folder_.path() + "/" + name; }
  QStringList train(const QString& run) const {
    return {"train", "--model",          model_,        "--data",         data_, "--run",
            run,     "--max-steps",      "12",          "--rank",         "4",   "--max-length",
            "320",   "--batch-size",     "2",           "--accumulation", "2",   "--eval-fraction",
            "0.1",   "--eval-every",     "4",           "--save-every",   "3",   "--learning-rate",
            "1e-2",  "--sample-prompts", "Say a number"};
  }
  static std::string adapter_of(const QString& run) {
    return read_file(run.toStdString() + "/adapter/adapter_model.safetensors");
  }

  /// Goes on with a run until it is done. Empty, or what went wrong.
  std::string finish(const QString& run) const {
    const bool begun = fs::exists(run.toStdString() + "/job.json");
    // Killed after its last word.
    if (begun && RunFolder::open(run.toStdString()).read_history().state == RunState::done) return {};
    const CliResult result = run_cli(begun ? QStringList{"resume", run} : train(run));
    if (result.code != 0) return result.err;
    return {};
  }
  std::string compare(const QString& run) const {
    if (adapter_of(run) != adapter_) return "another adapter";
    const auto events = comparable_events(run.toStdString());
    for (std::size_t i = 0; i < std::max(events.size(), events_.size()); ++i) {
      const std::string is = i < events.size() ? events[i] : "nothing";
      const std::string was = i < events_.size() ? events_[i] : "nothing";
      if (is != was) return "event " + std::to_string(i) + " is " + is + " and was " + was;
    }
    for (const auto& entry : fs::recursive_directory_iterator(run.toStdString())) {
      if (entry.path().filename().string().find(".tmp-") != std::string::npos)
        return "a left-over: " + entry.path().string();
    }
    return {};
  }

 private slots:
  void initTestCase() {
    fs::remove_all(qEnvironmentVariable("LORIKEET_HOME").toStdString());
    model_ = path("model");
    data_ = path("data.json");
    write_tiny_folder(model_.toStdString(), cli_model());
    write_alpaca(data_.toStdString(), 40);
    QElapsedTimer timer;
    timer.start();
    QCOMPARE(run_cli(train(path("whole"))).code, 0);
    whole_ms_ = timer.elapsed();
    events_ = comparable_events(path("whole").toStdString());
    adapter_ = adapter_of(path("whole"));
    QVERIFY(events_.size() >= 12 + 4 + 4 + 4 + 1);
  }
  void cleanup() { qunsetenv("LD_PRELOAD"); }

  void R13_a_run_killed_at_random_moments_has_the_same_end() {
    std::mt19937 random(20);
    int killed = 0, twice = 0;
    for (int trial = 0; trial < random_kills; ++trial) {
      const QString run = path(QString("random-%1").arg(trial));
      for (int part = 0; part < 2; ++part) {
        const bool begun = fs::exists(run.toStdString() + "/job.json");
        const auto engine = start_cli(begun ? QStringList{"resume", run} : train(run));
        const auto wait = static_cast<int>(random() % static_cast<unsigned>(whole_ms_)) / (part + 1);
        if (engine->waitForFinished(wait)) break;
        ::kill(static_cast<pid_t>(engine->processId()), SIGKILL);
        QVERIFY(engine->waitForFinished());
        ++killed;
        twice += part;
        // It may have died before it had a run to speak of.
        if (fs::exists(run.toStdString() + "/job.json"))
          QVERIFY(!RunFolder::open(run.toStdString()).is_alive());
      }
      const RunHistory history = fs::exists(run.toStdString() + "/job.json")
                                     ? RunFolder::open(run.toStdString()).read_history()
                                     : RunHistory{};
      if (history.state != RunState::done) {
        const std::string wrong = finish(run);
        QVERIFY2(wrong.empty(), wrong.c_str());
      }
      const std::string wrong = compare(run);
      QVERIFY2(wrong.empty(), (std::to_string(trial) + ": " + wrong).c_str());
    }
    qInfo("%d runs, %d kills, %d runs killed twice", random_kills, killed, twice);
  }

  void R01_a_run_killed_at_any_change_of_a_file_has_the_same_end() {
    const QString count_file = path("count");
    const auto with_fault = [&](const QString& run, FaultKind kind, int nth) {
      qputenv("LORIKEET_FILE_FAULT",
              QByteArray::number(static_cast<int>(kind)) + ":" + QByteArray::number(nth) + ":0");
      qputenv("LORIKEET_FILE_FAULT_FOLDER", run.toUtf8());
      qputenv("LORIKEET_FILE_FAULT_COUNT", count_file.toUtf8());
      qputenv("LD_PRELOAD", LORIKEET_FAULTS_PRELOAD);
      const CliResult result = run_cli(train(run));
      qunsetenv("LD_PRELOAD");
      return result.code;
    };
    QCOMPARE(with_fault(path("counted"), FaultKind::count, 0), 0);
    const int changes = std::stoi(read_file(count_file.toStdString()));
    QVERIFY(changes > 100);
    int points = 0;
    for (int nth = 1; nth <= changes; nth += every_nth_change) {
      const QString run = path(QString("change-%1").arg(nth));
      // Torn writes and kills between two changes in turn.
      const FaultKind kind = nth % 2 == 0 ? FaultKind::tear : FaultKind::kill;
      QCOMPARE(with_fault(run, kind, nth), -2);
      std::string wrong = finish(run);
      if (wrong.empty()) wrong = compare(run);
      QVERIFY2(wrong.empty(), ("killed at change " + std::to_string(nth) + ": " + wrong).c_str());
      ++points;
      fs::remove_all(run.toStdString());
    }
    qInfo("%d of %d changes were died at", points, changes);
  }
};

QTEST_GUILESS_MAIN(TestKilledRuns)
#include "test_killed_runs.moc"
