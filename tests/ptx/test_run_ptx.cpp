// SPDX-License-Identifier: Apache-2.0
// The run loop on a back end that works on its own, interpreted: it looks a step ahead, and what is asked of
// it in between loses nothing and does nothing twice.
#include <QtTest>
#include <stop_token>
#include <thread>

#include "core/base/files.h"
#include "core/train/run_job.h"
#include "kernels/base/error.h"
#include "tests/support/tiny_model.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestRunPtx : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string bytes_;  ///< of the adapter of a run that nobody disturbed
  std::vector<StepEvent> steps_;

  std::string path(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  Job job() const {
    Job job;
    job.model_path = path("model");
    job.data_path = path("data.json");
    job.settings.device = "cuda";
    job.settings.compute = "f32";
    job.settings.template_name = "none";
    job.settings.max_length = 32;
    job.settings.accumulation = 1;
    job.settings.rank = 4;
    job.settings.max_steps = 9;
    job.settings.eval_fraction = 0.1;
    job.settings.eval_every = 4;
    job.settings.save_every = 4;
    job.settings.memory_limit_bytes = 1'000'000'000;
    return job;
  }
  static std::string adapter(const std::string& run) {
    return read_file(run + "/adapter/adapter_model.safetensors");
  }
  static std::vector<std::int64_t> numbers(const std::vector<StepEvent>& steps) {
    std::vector<std::int64_t> values;
    for (const StepEvent& step : steps) values.push_back(step.step);
    return values;
  }
  void compare_steps(const RunHistory& history) const {
    QCOMPARE(numbers(history.steps), numbers(steps_));
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      QCOMPARE(history.steps[i].loss, steps_[i].loss);
      QCOMPARE(history.steps[i].tokens, steps_[i].tokens);
    }
  }
  /// Runs, and calls `at_step` after each step's event.
  RunEnd run(const std::string& name, bool resume, const std::function<void(const StepEvent&)>& at_step = {},
             std::stop_token stop = {}) const {
    RunFolder folder = resume ? RunFolder::open(path(name)) : RunFolder::create(path(name), job());
    RunJobOptions options;
    options.resume = resume;
    options.stop = std::move(stop);
    options.progress = [&](const RunProgress& progress) {
      if (progress.step && at_step) at_step(*progress.step);
    };
    return run_job(folder, options);
  }
  /// Seconds a step said that it took.
  static double seconds(const StepEvent& step, std::int64_t tokens_before) {
    return static_cast<double>(step.tokens - tokens_before) / step.tokens_per_second;
  }

 private slots:
  void initTestCase() {
    TinyModel tiny;
    write_tiny_folder(path("model"), tiny);
    std::string rows;
    for (int i = 0; i < 30; ++i) {
      rows += (i == 0 ? "[" : ",") + std::string("{\"instruction\": \"say ") + std::to_string(i * i) +
              "\", \"input\": \"\", \"output\": \"it is " + std::to_string(i) + "\"}";
    }
    write_text(path("data.json"), rows + "]");
    QCOMPARE(run("plain", false), RunEnd::done);
    bytes_ = adapter(path("plain"));
    steps_ = RunFolder::open(path("plain")).read_history().steps;
    QCOMPARE(steps_.size(), std::size_t{9});
  }

  void a_stop_keeps_the_finished_steps_and_a_resume_ends_the_same_data() {
    QTest::addColumn<int>("step");
    for (const int step : {1, 3, 4, 6, 8}) QTest::addRow("after step %d", step) << step;
  }
  void a_stop_keeps_the_finished_steps_and_a_resume_ends_the_same() {
    QFETCH(int, step);
    const std::string name = "stopped-" + std::to_string(step);
    std::stop_source stop;
    const RunEnd end = run(
        name, false,
        [&](const StepEvent& event) {
          if (event.step == step) stop.request_stop();
        },
        stop.get_token());
    QCOMPARE(end, RunEnd::stopped);
    const RunHistory history = RunFolder::open(path(name)).read_history();
    const std::int64_t last = history.steps.back().step;
    // The step that the device was at when the stop came is finished; the one ahead is in no event, no
    // checkpoint.
    QVERIFY2(last == step || last == step + 1, qPrintable(QString::number(last)));
    QCOMPARE(history.checkpoints.back().step, last);
    QCOMPARE(run(name, true), RunEnd::done);
    QVERIFY(adapter(path(name)) == bytes_);
    compare_steps(RunFolder::open(path(name)).read_history());
  }

  void a_checkpoint_asked_for_changes_nothing() {
    const std::string name = "checkpoint";
    run(name, false, [&](const StepEvent& event) {
      if (event.step == 2) RunFolder::open(path(name)).request(ControlRequest::checkpoint);
    });
    QVERIFY(adapter(path(name)) == bytes_);
    compare_steps(RunFolder::open(path(name)).read_history());
  }

  void a_pause_changes_nothing_and_counts_in_no_time() {
    Job undisturbed = job();
    undisturbed.settings.save_every = undisturbed.settings.eval_every = 100;  // it looks ahead all the time
    RunFolder folder = RunFolder::create(path("paused"), undisturbed);
    std::int64_t last = 0, paused_after = 0;
    std::jthread user;
    constexpr std::chrono::milliseconds pause{400};
    RunJobOptions options;
    options.progress = [&](const RunProgress& progress) {
      if (progress.step) last = progress.step->step;
      if (progress.step && last == 5) folder.request(ControlRequest::pause);
      if (progress.state == RunState::paused) {
        paused_after = last;
        user = std::jthread([&] {
          std::this_thread::sleep_for(pause);
          RunFolder::open(path("paused")).request(ControlRequest::resume);
        });
      }
    };
    const auto start = std::chrono::steady_clock::now();
    QCOMPARE(run_job(folder, options), RunEnd::done);
    const std::chrono::duration<double> whole = std::chrono::steady_clock::now() - start;
    QVERIFY(adapter(path("paused")) == bytes_);
    const RunHistory history = folder.read_history();
    compare_steps(history);
    QVERIFY2(paused_after >= 5 && paused_after < 9, qPrintable(QString::number(paused_after)));
    QVERIFY(history.steps.back().elapsed_seconds <
            whole.count() - std::chrono::duration<double>(pause).count());
    // The device had the next step when the pause began: it is said to have taken what those before it took.
    double smoothed = 0;
    std::int64_t tokens = 0;
    for (std::int64_t i = 0; i < paused_after; ++i) {
      const StepEvent& step = history.steps[static_cast<std::size_t>(i)];
      smoothed = i == 0 ? seconds(step, tokens) : 0.8 * smoothed + 0.2 * seconds(step, tokens);
      tokens = step.tokens;
    }
    const double next = seconds(history.steps[static_cast<std::size_t>(paused_after)], tokens);
    QVERIFY2(std::abs(next - smoothed) < 1e-6 * smoothed,
             qPrintable(QString("%1 %2").arg(next).arg(smoothed)));
  }
};

QTEST_GUILESS_MAIN(TestRunPtx)
#include "test_run_ptx.moc"
