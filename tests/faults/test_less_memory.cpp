// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/base/files.h"
#include "core/train/prepare.h"
#include "kernels/base/error.h"
#include "tests/app/cli_support.h"
#include "tests/core/train/training_support.h"
#include "tests/faults/small_run.h"
#include "tests/support/memory_faults.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// What a run does where memory is refused, and that its memory does not grow.
class TestLessMemory : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  std::unique_ptr<SmallRuns> runs_;

  std::string fresh(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }
  static double relative(double a, double b) { return std::abs(a - b) / std::max(1e-12, std::abs(b)); }

  /// A run in which the first allocation after step `step` is refused, `times` times.
  static SmallRuns::Watch refuse_after(std::int64_t step, int times = 1) {
    auto left = std::make_shared<int>(0);
    return [=](const RunProgress& progress) {
      if (met_memory_fault() && *left > 0) arm_memory_fault(--*left > 0 ? 1 : 0);
      if (!progress.step || progress.step->step != step || *left != 0) return;
      *left = times;
      arm_memory_fault(1, times > 1);
    };
  }

 private slots:
  void initTestCase() {
    model_ = fresh("tiny");
    write_tiny_folder(model_, TinyModel{});
    runs_ = std::make_unique<SmallRuns>(folder_.path().toStdString());
  }
  void cleanup() { disarm_memory_fault(); }

  void micro_batches_are_cut_between_rows() {
    std::vector<TokenRow> rows;
    for (const int length : {30, 20, 10, 40, 5, 5, 5}) {
      TokenRow row;
      row.ids.assign(static_cast<std::size_t>(length), 7);
      rows.push_back(row);
    }
    using Batches = std::vector<std::vector<std::int64_t>>;
    const Batches batches = {{0, 1, 2}, {3, 4, 5, 6}};
    QCOMPARE(cut_micro_batches(rows, batches, 60), batches);
    QCOMPARE(cut_micro_batches(rows, batches, 50), (Batches{{0, 1}, {2}, {3, 4, 5}, {6}}));
    QCOMPARE(cut_micro_batches(rows, batches, 40), (Batches{{0}, {1, 2}, {3}, {4, 5, 6}}));
    QCOMPARE(cut_micro_batches(rows, batches, 1), (Batches{{0}, {1}, {2}, {3}, {4}, {5}, {6}}));
  }

  void steps_shrink_until_there_is_nothing_left_to_give() {
    std::optional<StepShape> shape = StepShape{100, 1};
    std::vector<StepShape> tried;
    while ((shape = smaller_step(*shape, 30, 6))) tried.push_back(*shape);
    const std::vector<StepShape> expected = {{50, 1}, {30, 1}, {30, 4}, {30, 5}, {30, 6}};
    QVERIFY(tried == expected);
  }

  void M04_smaller_micro_batches_give_the_same_curve_data() {
    QTest::addColumn<bool>("packing");
    QTest::addColumn<int>("batch_size");
    QTest::newRow("packed") << true << 4;
    QTest::newRow("unpacked") << false << 4;
    QTest::newRow("one row at a time") << false << 1;
  }
  void M04_smaller_micro_batches_give_the_same_curve() {
    QFETCH(bool, packing);
    QFETCH(int, batch_size);
    Settings settings = exact_settings();
    settings.packing = packing;
    settings.batch_size = batch_size;
    settings.accumulation = 2;
    const auto rows = random_rows(60, 32, 4);
    TrainingSetup plain(model_, settings, rows), shrinking(model_, settings, rows);
    double worst = 0;
    int changes = 0;
    for (int step = 1; step <= 10; ++step) {
      // In the middle of a step, after some of its micro-batches.
      int calls = 0;
      bool refused = false;
      try {
        shrinking.trainer().step([&] {
          if (step % 2 == 0 && ++calls == 5) throw Error(ErrorCode::out_of_memory, "refused");
        });
      } catch (const Error&) {
        refused = true;
      }
      if (refused) {
        const auto change = shrinking.trainer().take_less_memory();
        if (change) {
          QCOMPARE(change->from_step, std::int64_t{step});
          ++changes;
        }
        shrinking.trainer().step();
      }
      const StepReport report = plain.trainer().step();
      QCOMPARE(shrinking.trainer().step_number(), report.step);
      QCOMPARE(shrinking.trainer().tokens_seen(), plain.trainer().tokens_seen());
    }
    QVERIFY(changes >= 2);
    const auto a = plain.parameters(), b = shrinking.parameters();
    for (std::size_t i = 0; i < a.size(); ++i)
      worst = std::max(worst, static_cast<double>(std::abs(a[i] - b[i])));
    QVERIFY2(worst <= 1e-4, qPrintable(QString::number(worst)));
    const double one = plain.trainer().step().loss, other = shrinking.trainer().step().loss;
    QVERIFY2(relative(other, one) <= 1e-5, qPrintable(QString::number(relative(other, one))));
    qInfo("%d changes, parameters differ by %.1e, the next loss by %.1e", changes, worst,
          relative(other, one));
  }

  void M04_a_run_that_is_refused_memory_goes_on_and_says_so() {
    const std::string whole = fresh("whole"), run = fresh("refused");
    Settings settings = SmallRuns::settings();
    settings.sample_prompts.clear();
    settings.save_every = 3;  // nothing but a step comes after step 4
    QCOMPARE(runs_->begin(whole, settings), RunEnd::done);
    QCOMPARE(runs_->begin(run, settings, refuse_after(4)), RunEnd::done);
    const RunHistory history = RunFolder::open(run).read_history();
    QCOMPARE(history.memory.size(), std::size_t{1});
    QCOMPARE(history.memory[0].step, std::int64_t{5});
    QVERIFY(history.memory[0].micro_batch_tokens > 0);
    QVERIFY(history.memory[0].planned_bytes > 0);
    QVERIFY(!history.memory[0].why.empty());
    const auto expected = losses_of(whole), losses = losses_of(run);
    QCOMPARE(losses.size(), expected.size());
    double worst = 0;
    for (std::size_t i = 0; i < losses.size(); ++i) worst = std::max(worst, relative(losses[i], expected[i]));
    QVERIFY2(worst <= 1e-5, qPrintable(QString::number(worst)));
    qInfo("largest relative difference of a loss: %.1e", worst);
  }

  void R10_R12_a_smaller_micro_batch_is_remembered_and_the_steps_stay() {
    const std::string run = fresh("remembered"), again = fresh("remembered-again");
    Settings settings = SmallRuns::settings();
    settings.sample_prompts.clear();
    settings.max_steps = 0;
    settings.epochs = 3;
    settings.save_every = 3;
    QCOMPARE(runs_->begin(run, settings, refuse_after(4)), RunEnd::done);
    const Job job = RunFolder::open(run).read_job();
    QCOMPARE(job.settings.batch_size, std::int64_t{2});  // what was chosen
    QCOMPARE(job.shape_changes.size(), std::size_t{1});  // what it came to
    QCOMPARE(job.shape_changes[0].from_step, std::int64_t{5});
    const auto total = RunFolder::open(run).read_history().total_steps;
    QVERIFY(total > 6);
    // Back to the checkpoint before the change: it has to come again, at the same step.
    fs::copy(run, again, fs::copy_options::recursive);
    fs::remove_all(again + "/adapter");
    for (const auto& entry : fs::directory_iterator(run + "/checkpoints")) {
      const std::string name = entry.path().filename().string();
      fs::remove_all(again + "/checkpoints/" + name);
    }
    QCOMPARE(runs_->go_on(again), RunEnd::done);
    const RunHistory history = RunFolder::open(again).read_history();
    QCOMPARE(history.total_steps, total);
    QCOMPARE(std::ssize(history.steps), total);
    QCOMPARE(history.memory.size(), std::size_t{1});
    QVERIFY(adapter_bytes(again) == adapter_bytes(run));
    QVERIFY(comparable_events(again) == comparable_events(run));
  }

  void a_run_without_enough_memory_for_one_row_says_what_to_change() {
    const std::string run = fresh("hopeless");
    Settings settings = SmallRuns::settings();
    settings.sample_prompts.clear();
    try {
      runs_->begin(run, settings, [](const RunProgress& progress) {
        if (progress.step && progress.step->step == 1) arm_memory_fault(1, true);
      });
      QFAIL("it went on");
    } catch (const Error& error) {
      disarm_memory_fault();
      QCOMPARE(error.code(), ErrorCode::out_of_memory);
      QVERIFY2(error.hint().find("max-length") != std::string::npos, error.what());
    }
    // Nothing is lost: with memory it goes on.
    QCOMPARE(RunFolder::open(run).read_history().state, RunState::failed);
    QCOMPARE(runs_->go_on(run), RunEnd::done);
    QCOMPARE(losses_of(run).size(), std::size_t{6});
  }

  void M02_memory_does_not_grow_with_longer_rows() {
    std::vector<TokenRow> rows;
    for (int longest = 6; longest <= 32; ++longest) {
      for (TokenRow row : random_rows(4, longest, static_cast<std::uint64_t>(longest))) {
        row.number = std::ssize(rows) + 1;
        rows.push_back(std::move(row));
      }
    }
    Settings settings = exact_settings();
    settings.shuffle = false;  // they get longer and longer
    settings.packing = false;
    TrainingSetup setup(model_, settings, rows);
    setup.trainer().step();
    const MemoryBudget& budget = setup.backend().budget();
    const auto used = budget.used_bytes();
    const auto activations = setup.plan().memory.activations;
    for (int step = 0; step < 9; ++step) setup.trainer().step();
    // Working room of products follows the number of rows; the activations were there from the start.
    QVERIFY2(budget.peak_bytes() - used < activations / 4 + 100'000,
             qPrintable(QString("%1 after %2").arg(budget.peak_bytes()).arg(used)));
    QVERIFY(budget.peak_bytes() <= setup.plan().memory.total());
  }

  void M03_no_row_is_longer_than_max_length_data() {
    QTest::addColumn<QString>("too_long");
    QTest::addColumn<bool>("packing");
    for (const bool packing : {true, false}) {
      for (const char* too_long : {"cut", "drop", "split"})
        QTest::addRow("%s, %s", too_long, packing ? "packed" : "unpacked") << QString(too_long) << packing;
    }
  }
  void M03_no_row_is_longer_than_max_length() {
    QFETCH(QString, too_long);
    QFETCH(bool, packing);
    Settings settings = SmallRuns::settings();
    settings.too_long = too_long.toStdString();
    settings.packing = packing;
    settings.eval_fraction = 0.3;
    settings.sample_prompts.clear();
    settings.max_steps = 2;
    Json rows = Json::array();
    for (int i = 0; i < 12; ++i) {
      const std::size_t length = i == 5 ? 20'000 : 20;
      rows.push_back({{"instruction", "Say"}, {"input", ""}, {"output", std::string(length, 'x')}});
    }
    Job job = runs_->job(settings);
    job.data_path = fresh("long.json");
    write_file_atomically(job.data_path, rows.dump());
    const PreparedData data =
        prepare_data(job.model_path, read_model_spec(job.model_path), job.data_path, "", settings);
    QCOMPARE(data.max_length, std::int64_t{320});
    for (const auto* part : {&data.train, &data.evaluation}) {
      for (const TokenRow& row : *part) QVERIFY(std::ssize(row.ids) <= 320);
    }
    QVERIFY(largest_batch_tokens(data.shape, settings, data.max_length) <= 2 * 320);
    RunFolder run = RunFolder::create(fresh(std::string("long-") + QTest::currentDataTag()), job);
    QCOMPARE(run_job(run, {}), RunEnd::done);
  }

  void M05_evaluation_needs_the_same_memory_for_any_number_of_rows() {
    std::uint64_t peaks[2];
    for (const int i : {0, 1}) {
      TrainingSetup setup(model_, exact_settings(), random_rows(8, 32, 5),
                          random_rows(i == 0 ? 16 : 400, 32, 6));
      setup.trainer().evaluate();
      peaks[i] = setup.backend().budget().peak_bytes();
    }
    // A few bytes are of the number of rows that fit into one group.
    QVERIFY2(peaks[1] <= peaks[0] + 4096, qPrintable(QString("%1 after %2").arg(peaks[1]).arg(peaks[0])));
  }

  void M06_an_evaluation_with_longer_rows_than_training_fits() {
    TrainingSetup setup(model_, exact_settings(), random_rows(20, 8, 7), random_rows(20, 32, 8));
    setup.trainer().step();
    QVERIFY(setup.trainer().evaluate().tokens > 0);
    QVERIFY(setup.backend().budget().peak_bytes() <= setup.plan().memory.total());
  }

  void M07_memory_after_fifty_evaluations_is_what_it_was() {
    Settings settings = SmallRuns::settings();
    settings.eval_every = 1;
    settings.save_every = 100;
    settings.max_steps = 50;
    std::vector<std::int64_t> bytes;
    QCOMPARE(runs_->begin(fresh("fifty"), settings,
                          [&](const RunProgress& progress) {
                            if (progress.step) bytes.push_back(progress.step->memory_bytes);
                          }),
             RunEnd::done);
    QCOMPARE(bytes.size(), std::size_t{50});
    // The allocator's own room has settled by then.
    const double growth = static_cast<double>(bytes.back() - bytes[24]) / static_cast<double>(bytes[24]);
    QVERIFY2(growth <= 0.01, qPrintable(QString::number(growth)));
  }

  void M10_going_on_needs_no_more_memory_than_training_did() {
    Settings settings = exact_settings();
    settings.rank = 32;  // an adapter that counts beside the activations
    const auto rows = random_rows(20, 32, 9);
    const std::string saved = fresh("saved");
    std::uint64_t trained = 0;
    {
      TrainingSetup setup(model_, settings, rows);
      setup.trainer().step();
      setup.trainer().save(saved, {});
      trained = setup.backend().budget().peak_bytes();
    }
    TrainingSetup setup(model_, settings, rows);
    setup.trainer().restore(saved);
    setup.trainer().step();
    QVERIFY2(setup.backend().budget().peak_bytes() <= trained,
             qPrintable(QString("%1 after %2").arg(setup.backend().budget().peak_bytes()).arg(trained)));
  }
};

QTEST_GUILESS_MAIN(TestLessMemory)
#include "test_less_memory.moc"
