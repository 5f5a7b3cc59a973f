// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/train/run_folder.h"
#include "kernels/base/error.h"

using namespace lorikeet;

class TestRunFolder : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  int count_ = 0;
  std::string fresh_path() { return folder_.path().toStdString() + "/run-" + std::to_string(++count_); }
  static Job some_job() {
    Job job;
    job.name = "Stories";
    job.model_path = "/models/nest";
    job.data_path = "/data/stories.json";
    job.settings.rank = 8;
    job.machine = {{"threads", "2"}};
    return job;
  }

 private slots:
  void a_job_is_read_as_it_was_written() {
    const auto run = RunFolder::create(fresh_path(), some_job());
    const Job job = RunFolder::open(run.path()).read_job();
    QCOMPARE(job.name, std::string("Stories"));
    QCOMPARE(job.settings.rank, std::int64_t{8});
    QCOMPARE(job.machine.front().second, std::string("2"));
  }

  void a_second_run_in_the_same_folder_is_refused() {
    auto run = RunFolder::create(fresh_path(), some_job());
    run.lock();
    run.append({{"type", "state"}, {"state", "loading"}});
    QVERIFY_EXCEPTION_THROWN(RunFolder::create(run.path(), some_job()), Error);
    auto second = RunFolder::open(run.path());
    QVERIFY(second.is_alive());
    QVERIFY_EXCEPTION_THROWN(second.lock(), Error);
  }

  void events_are_replayed_and_a_resume_drops_what_lies_beyond() {
    auto run = RunFolder::create(fresh_path(), some_job());
    run.lock();
    run.append({{"type", "state"}, {"state", "training"}, {"total_steps", 40}});
    for (int step = 1; step <= 5; ++step) {
      run.append({{"type", "step"}, {"step", step}, {"loss", 4.0 - step}, {"tokens", 100 * step}});
    }
    run.append({{"type", "eval"}, {"step", 4}, {"loss", 1.5}});
    run.append({{"type", "checkpoint"}, {"step", 3}, {"path", "checkpoints/step-3"}});
    run.append({{"type", "resume"}, {"from_step", 3}});
    run.append({{"type", "step"}, {"step", 4}, {"loss", 0.25}});
    const RunHistory history = run.read_history();
    QCOMPARE(history.total_steps, std::int64_t{40});
    QCOMPARE(history.steps.size(), std::size_t{4});
    QCOMPARE(history.steps.back().loss, 0.25);
    QVERIFY(history.evaluations.empty());
    QCOMPARE(history.checkpoints.size(), std::size_t{1});
    QVERIFY(history.last_time > 1e9);
  }

  void a_torn_last_line_waits_and_is_cut_on_resume() {
    auto run = RunFolder::create(fresh_path(), some_job());
    run.lock();
    run.append({{"type", "step"}, {"step", 1}});
    {
      std::ofstream file(run.path() + "/events.jsonl", std::ios::app);
      file << "{\"type\":\"step\",\"st";
    }
    QCOMPARE(run.read_history().steps.size(), std::size_t{1});
    run.cut_torn_line();
    run.append({{"type", "step"}, {"step", 2}});
    const RunHistory history = run.read_history();
    QCOMPARE(history.steps.size(), std::size_t{2});
    QVERIFY(history.warnings.empty());
  }

  void events_arrive_in_any_pieces() {
    const std::string text =
        "{\"type\":\"step\",\"step\":1,\"loss\":2.5}\n{\"type\":\"eval\",\"step\":1,\"loss\":2}\n";
    for (std::size_t cut = 0; cut <= text.size(); ++cut) {
      EventReader reader;
      reader.feed(std::string_view(text).substr(0, cut));
      reader.feed(std::string_view(text).substr(cut));
      QCOMPARE(reader.history().steps.size(), std::size_t{1});
      QCOMPARE(reader.history().evaluations.size(), std::size_t{1});
    }
  }

  void a_broken_line_is_a_warning_and_the_rest_is_read() {
    EventReader reader;
    reader.feed("nonsense\n{\"type\":\"step\",\"step\":\"x\"}\n{\"type\":\"step\",\"step\":2}\n");
    QCOMPARE(reader.history().steps.size(), std::size_t{1});
    QCOMPARE(reader.history().warnings.size(), std::size_t{2});
  }

  void an_engine_that_died_is_told_from_one_that_ended() {
    const std::string path = fresh_path();
    {
      auto run = RunFolder::create(path, some_job());
      QVERIFY(!run.was_killed());
      run.lock();
      run.append({{"type", "state"}, {"state", "training"}});
      QVERIFY(run.is_alive());
      QVERIFY(!run.was_killed());
    }
    auto run = RunFolder::open(path);
    QVERIFY(!run.is_alive());
    QVERIFY(run.was_killed());
    run.lock();
    run.append({{"type", "state"}, {"state", "done"}});
    run = RunFolder::open(path);
    QVERIFY(!run.was_killed());
  }

  void requests_reach_the_engine_and_are_taken_back() {
    const auto run = RunFolder::create(fresh_path(), some_job());
    QVERIFY(!run.pending_request());
    run.request(ControlRequest::pause);
    auto engine = RunFolder::open(run.path());
    QCOMPARE(*engine.pending_request(), ControlRequest::pause);
    engine.acknowledge(ControlRequest::pause);
    QVERIFY(!engine.pending_request());
  }
};

QTEST_GUILESS_MAIN(TestRunFolder)
#include "test_run_folder.moc"
