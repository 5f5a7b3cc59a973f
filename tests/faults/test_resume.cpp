// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <filesystem>
#include <fstream>
#include <set>

#include "core/base/files.h"
#include "core/train/checkpoint.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"
#include "tests/faults/small_run.h"

using namespace lorikeet;
using namespace lorikeet::test;
namespace fs = std::filesystem;

/// A run that goes on from a checkpoint is the run that was never interrupted.
class TestResume : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;
  std::unique_ptr<SmallRuns> runs_;

  std::string fresh(const std::string& name) const { return folder_.path().toStdString() + "/" + name; }

  /// Steps of one trainer, each with the parameters after it.
  struct Trace {
    std::vector<StepReport> reports;
    std::vector<std::vector<float>> parameters;
  };
  static void go(TrainingSetup& setup, std::int64_t steps, Trace& trace) {
    for (std::int64_t i = 0; i < steps && !setup.trainer().finished(); ++i) {
      trace.reports.push_back(setup.trainer().step());
      trace.parameters.push_back(setup.parameters());
    }
  }
  /// The whole, and the same stopped after each of `stops` steps.
  std::pair<Trace, Trace> with_stops(const Settings& settings, const std::vector<TokenRow>& rows,
                                     const std::vector<std::int64_t>& stops) {
    Trace whole, parts;
    TrainingSetup one(model_, settings, rows);
    go(one, one.trainer().total_steps(), whole);
    std::string saved;
    for (const std::int64_t stop : stops) {
      TrainingSetup part(model_, settings, rows);
      if (!saved.empty()) part.trainer().restore(saved);
      go(part, stop - part.trainer().step_number(), parts);
      saved = fresh("saved-" + std::to_string(stop));
      part.trainer().save(saved, {});
    }
    TrainingSetup last(model_, settings, rows);
    last.trainer().restore(saved);
    go(last, last.trainer().total_steps(), parts);
    return {whole, parts};
  }

 private slots:
  void initTestCase() {
    model_ = fresh("tiny");
    write_tiny_folder(model_, TinyModel{});
    runs_ = std::make_unique<SmallRuns>(folder_.path().toStdString());
  }

  void R13_R16_twenty_steps_are_ten_and_ten_data() {
    QTest::addColumn<QString>("optimizer");
    QTest::addColumn<double>("dropout");
    QTest::addColumn<double>("neftune");
    QTest::newRow("R13 adamw") << "adamw" << 0.0 << 0.0;
    QTest::newRow("R13 adamw-8bit") << "adamw-8bit" << 0.0 << 0.0;
    QTest::newRow("R16 dropout") << "adamw" << 0.1 << 0.0;
    QTest::newRow("R16 noise on the embeddings") << "adamw" << 0.0 << 5.0;
  }
  void R13_R16_twenty_steps_are_ten_and_ten() {
    QFETCH(QString, optimizer);
    QFETCH(double, dropout);
    QFETCH(double, neftune);
    Settings settings = exact_settings();
    settings.optimizer = optimizer.toStdString();
    settings.rank = 64;
    settings.max_steps = 20;
    settings.dropout = dropout;
    settings.neftune = neftune;
    const auto [whole, parts] = with_stops(settings, random_rows(30, 32, 1), {10});
    QCOMPARE(parts.reports.size(), std::size_t{20});
    for (std::size_t i = 0; i < 20; ++i) {
      QCOMPARE(parts.reports[i].loss, whole.reports[i].loss);
      QCOMPARE(parts.reports[i].grad_norm, whole.reports[i].grad_norm);
      QVERIFY2(parts.parameters[i] == whole.parameters[i], qPrintable(QString("step %1").arg(i + 1)));
    }
  }

  void R14_parameters_in_memory_are_those_of_the_checkpoint() {
    Settings settings = exact_settings();
    const auto rows = random_rows(20, 32, 2);
    TrainingSetup setup(model_, settings, rows);
    for (int i = 0; i < 5; ++i) setup.trainer().step();
    const std::string saved = fresh("r14");
    setup.trainer().save(saved, {});
    const double next = setup.trainer().step().loss;
    TrainingSetup resumed(model_, settings, rows);
    resumed.trainer().restore(saved);
    const std::string again = fresh("r14-again");
    resumed.trainer().save(again, {});
    for (const char* file : {"/adapter_model.safetensors", "/optimizer.bin"})
      QVERIFY2(read_file(again + file) == read_file(saved + file), file);
    QCOMPARE(resumed.trainer().step().loss, next);
  }

  void R15_rows_come_in_the_order_of_the_uninterrupted_run() {
    Settings settings = exact_settings();
    settings.max_steps = 0;
    settings.epochs = 3;
    settings.packing = false;
    settings.accumulation = 2;
    const auto rows = random_rows(16, 16, 3);  // four steps an epoch
    // At each boundary of an epoch, and in the middle of one.
    const auto [whole, parts] = with_stops(settings, rows, {2, 4, 8});
    QCOMPARE(whole.reports.size(), std::size_t{12});
    std::vector<std::vector<std::int64_t>> epochs(3);
    for (std::size_t i = 0; i < 12; ++i) {
      QVERIFY2(parts.reports[i].rows == whole.reports[i].rows, qPrintable(QString("step %1").arg(i + 1)));
      QCOMPARE(parts.reports[i].epoch, whole.reports[i].epoch);
      epochs[i / 4].insert(epochs[i / 4].end(), whole.reports[i].rows.begin(), whole.reports[i].rows.end());
    }
    QVERIFY(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    for (const auto& epoch : epochs) QCOMPARE(std::set(epoch.begin(), epoch.end()).size(), std::size_t{16});
  }

  void R19_the_learning_rate_goes_on_where_it_was_data() {
    QTest::addColumn<QString>("schedule");
    for (const char* name : {"linear", "cosine", "cosine-min", "constant", "inverse-sqrt"})
      QTest::newRow(name) << QString(name);
  }
  void R19_the_learning_rate_goes_on_where_it_was() {
    QFETCH(QString, schedule);
    Settings settings = exact_settings();
    settings.schedule = schedule.toStdString();
    settings.warmup_steps = 3;
    settings.max_steps = 12;
    const auto [whole, parts] = with_stops(settings, random_rows(20, 16, 4), {2, 6});
    QCOMPARE(parts.reports.size(), std::size_t{12});
    for (std::size_t i = 0; i < 12; ++i)
      QCOMPARE(parts.reports[i].learning_rate, whole.reports[i].learning_rate);
  }

  void R11_steps_depend_on_the_rows_of_a_step_not_on_its_parts() {
    const auto rows = random_rows(32, 16, 5);
    for (const auto& [batch, accumulation] : {std::pair{1, 4}, std::pair{2, 2}, std::pair{4, 1}}) {
      Settings settings = exact_settings();
      settings.max_steps = 0;
      settings.packing = false;
      settings.batch_size = batch;
      settings.accumulation = accumulation;
      QCOMPARE(TrainingSetup(model_, settings, rows).plan().steps, std::int64_t{8});
    }
  }

  void R01_a_half_written_checkpoint_is_put_away_and_said() {
    const std::string run = fresh("half");
    QCOMPARE(runs_->begin(run), RunEnd::done);
    const std::string adapter = adapter_bytes(run);
    fs::remove_all(run + "/adapter");
    // As a kill in the middle leaves it: no manifest, under a name that is no checkpoint's.
    fs::create_directories(run + "/checkpoints/step-7.tmp-99999-0");
    std::ofstream(run + "/checkpoints/step-7.tmp-99999-0/optimizer.bin") << "half";
    fs::create_directories(run + "/checkpoints/step-8");
    std::ofstream(run + "/checkpoints/step-8/optimizer.bin") << "no manifest";
    QCOMPARE(runs_->go_on(run), RunEnd::done);
    QVERIFY(adapter_bytes(run) == adapter);
    QVERIFY(!fs::exists(run + "/checkpoints/step-7.tmp-99999-0"));
    QVERIFY(fs::exists(run + "/checkpoints/broken/step-8"));
    int said = 0;
    for (const auto& warning : RunFolder::open(run).read_history().warnings)
      said += warning.code == "checkpoint";
    QCOMPARE(said, 2);
  }

  void R03_a_checkpoint_with_an_empty_file_is_not_gone_on_from() {
    const std::string run = fresh("empty");
    QCOMPARE(runs_->begin(run), RunEnd::done);
    const std::string adapter = adapter_bytes(run);
    fs::remove_all(run + "/adapter");
    fs::resize_file(run + "/checkpoints/step-6/trainer.json", 0);
    std::int64_t first = 0;
    QCOMPARE(runs_->go_on(run,
                          [&](const RunProgress& progress) {
                            if (progress.step && first == 0) first = progress.step->step;
                          }),
             RunEnd::done);
    QCOMPARE(first, std::int64_t{5});  // from the older one
    QVERIFY(adapter_bytes(run) == adapter);
  }

  void two_checkpoints_stay_and_the_older_one_until_the_newer_was_read() {
    const std::string run = fresh("two");
    Settings settings = SmallRuns::settings();
    settings.save_every = 1;
    std::size_t fewest = 99;
    QCOMPARE(runs_->begin(run, settings,
                          [&](const RunProgress& progress) {
                            if (!progress.step || progress.step->step < 4) return;
                            std::size_t complete = 0;
                            for (const auto& entry : fs::directory_iterator(run + "/checkpoints")) {
                              verify_checkpoint(entry.path().string());
                              ++complete;
                            }
                            fewest = std::min(fewest, complete);
                          }),
             RunEnd::done);
    QCOMPARE(fewest, std::size_t{2});
  }

  void a_checkpoint_that_cannot_be_read_now_is_not_called_broken() {
    const std::string run = fresh("unreadable");
    QCOMPARE(runs_->begin(run), RunEnd::done);
    // A folder where a file should be: opening works, reading does not.
    const std::string file = run + "/checkpoints/step-6/manifest.json", aside = fresh("manifest");
    fs::rename(file, aside);
    fs::create_directories(file);
    const RunFolder folder = RunFolder::open(run);
    QVERIFY_EXCEPTION_THROWN(newest_checkpoint(folder), Error);
    fs::remove(file);
    fs::rename(aside, file);
    QCOMPARE(newest_checkpoint(folder), folder.checkpoint_path(6));
  }
};

QTEST_GUILESS_MAIN(TestResume)
#include "test_resume.moc"
