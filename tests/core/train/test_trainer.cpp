// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <filesystem>
#include <limits>
#include <set>

#include "core/data/packing.h"
#include "core/model/compute_choice.h"
#include "core/train/checkpoint.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestTrainer : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;

  static double relative(double a, double b) { return std::abs(a - b) / std::max(1e-12, std::abs(b)); }
  std::string fresh(const char* name) const { return folder_.path().toStdString() + "/" + name; }

  static std::vector<double> losses(Trainer& trainer, int steps) {
    std::vector<double> values;
    for (int i = 0; i < steps; ++i) values.push_back(trainer.step().loss);
    return values;
  }

 private slots:
  void initTestCase() {
    model_ = fresh("model");
    write_tiny_folder(model_, TinyModel{});
  }

  void n01_one_batch_of_eight_and_eight_batches_of_one_give_the_same_curve() {
    const auto rows = random_rows(40, 32, 1);
    Settings together = exact_settings(), apart = exact_settings();
    together.packing = apart.packing = false;
    together.batch_size = 8;
    together.accumulation = 1;
    apart.batch_size = 1;
    apart.accumulation = 8;
    TrainingSetup one(model_, together, rows), other(model_, apart, rows);
    const auto a = losses(one.trainer(), 10), b = losses(other.trainer(), 10);
    QVERIFY2(relative(a[0], b[0]) <= 1e-6, qPrintable(QString::number(relative(a[0], b[0]))));
    for (std::size_t i = 0; i < a.size(); ++i)
      QVERIFY2(relative(a[i], b[i]) <= 1e-5, qPrintable(QString::number(i)));
    QVERIFY(a.back() < a.front());
  }

  void n14_packed_rows_never_see_each_other() {
    const auto rows = random_rows(24, 32, 2);
    Settings settings = exact_settings();
    settings.packing = false;
    TrainingSetup setup(model_, settings, rows);
    randomise_b(setup.backend(), setup.adapter(), 7);
    Transformer::Options options;
    options.max_tokens = 1024;
    options.keep.assign(2, true);
    Transformer transformer(setup.model(), &setup.adapter(), options);
    std::vector<std::int64_t> all;
    double apart = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      all.push_back(static_cast<std::int64_t>(i));
      apart += transformer.evaluate(make_batch(rows, {static_cast<std::int64_t>(i)})).loss_sum;
    }
    const double packed = transformer.evaluate(make_batch(rows, all)).loss_sum;
    QVERIFY2(relative(packed, apart) <= 1e-6, qPrintable(QString::number(relative(packed, apart))));
  }

  void the_gradient_of_the_adapter_is_the_slope_of_the_loss() {
    const auto rows = random_rows(3, 12, 3);
    TrainingSetup setup(model_, exact_settings(), rows);
    Backend& backend = setup.backend();
    randomise_b(backend, setup.adapter(), 5);
    Transformer::Options options;
    options.max_tokens = 64;
    options.keep.assign(2, true);
    Transformer transformer(setup.model(), &setup.adapter(), options);
    const TokenBatch batch = make_batch(rows, {0, 1, 2});
    Tensor gradients = backend.allocate({setup.adapter().parameter_count()}, DType::f32);
    backend.fill_zero(gradients);
    transformer.forward_backward(batch, 1.0f, gradients);
    std::vector<float> analytic(static_cast<std::size_t>(setup.adapter().parameter_count()));
    backend.download(analytic.data(), gradients);
    const std::vector<float> start = setup.parameters();
    // Along random directions: f32 noise on single coordinates would drown the slope.
    for (int trial = 0; trial < 8; ++trial) {
      RandomStream random({static_cast<std::uint64_t>(trial), 0, 0, 0, RandomUse::test});
      std::vector<double> direction(start.size());
      double expected = 0;
      for (std::size_t i = 0; i < start.size(); ++i) {
        direction[i] = random.next_normal();
        expected += direction[i] * static_cast<double>(analytic[i]);
      }
      const auto loss_at = [&](double step) {
        std::vector<float> moved(start.size());
        for (std::size_t i = 0; i < start.size(); ++i)
          moved[i] = static_cast<float>(start[i] + step * direction[i]);
        backend.upload(setup.adapter().parameters(), moved.data());
        return transformer.evaluate(batch).loss_sum;
      };
      const double h = 2e-4;
      const double slope = (loss_at(h) - loss_at(-h)) / (2 * h);
      QVERIFY2(std::abs(slope - expected) <= 2e-3 * std::max(1.0, std::abs(expected)),
               qPrintable(QString("%1 against %2").arg(slope).arg(expected)));
    }
    backend.upload(setup.adapter().parameters(), start.data());
  }

  void n18_recomputed_layers_give_the_same_bits_as_kept_ones_data() {
    QTest::addColumn<bool>("first");
    QTest::addColumn<bool>("second");
    QTest::newRow("none kept") << false << false;
    QTest::newRow("the first kept") << true << false;
    QTest::newRow("the last kept") << false << true;
  }
  void n18_recomputed_layers_give_the_same_bits_as_kept_ones() {
    QFETCH(bool, first);
    QFETCH(bool, second);
    const auto rows = random_rows(5, 30, 4);
    TrainingSetup setup(model_, exact_settings(), rows);
    Backend& backend = setup.backend();
    randomise_b(backend, setup.adapter(), 6);
    const TokenBatch batch = make_batch(rows, {0, 1, 2, 3, 4});
    const auto run = [&](std::vector<bool> keep) {
      Transformer::Options options;
      options.max_tokens = static_cast<std::int64_t>(batch.ids.size());
      options.keep = std::move(keep);
      Transformer transformer(setup.model(), &setup.adapter(), options);
      Tensor gradients = backend.allocate({setup.adapter().parameter_count()}, DType::f32);
      backend.fill_zero(gradients);
      const BatchLoss loss = transformer.forward_backward(batch, 0.25f, gradients);
      std::vector<float> values(static_cast<std::size_t>(setup.adapter().parameter_count()));
      backend.download(values.data(), gradients);
      values.push_back(static_cast<float>(loss.loss_sum));
      return values;
    };
    QVERIFY(run({true, true}) == run({first, second}));
  }

  void the_plan_counts_the_base_as_it_is_kept_data() {
    QTest::addColumn<QString>("quantization");
    for (const char* name : {"nf4", "nf4-single", "fp4", "int8", "none"})
      QTest::newRow(name) << QString(name);
  }
  void the_plan_counts_the_base_as_it_is_kept() {
    QFETCH(QString, quantization);
    Settings settings = exact_settings();
    settings.quantization = quantization.toStdString();
    const ModelSpec spec = read_model_spec(model_);
    const auto backend = make_backend_for(settings);
    const BaseModel base = load_base_model(*backend, model_, spec, settings, DType::f32);
    const auto tables = static_cast<std::uint64_t>(4 * settings.max_length * spec.rope.rotary_dim);
    const TrainingSetup setup(model_, settings, random_rows(4, 16, 1));
    QCOMPARE(setup.plan().memory.base_weights, backend->budget().used_bytes() + tables);
  }

  void a_restored_run_goes_on_bit_for_bit_data() {
    QTest::addColumn<QString>("optimizer");
    QTest::addColumn<QString>("quantization");
    QTest::addColumn<bool>("packing");
    QTest::newRow("adamw, unpacked") << "adamw"
                                     << "none" << false;
    QTest::newRow("adamw-8bit, nf4, packed") << "adamw-8bit"
                                             << "nf4" << true;
    QTest::newRow("adamw-8bit, fp4, packed") << "adamw-8bit"
                                             << "fp4" << true;
    QTest::newRow("adamw-8bit, int8, packed") << "adamw-8bit"
                                              << "int8" << true;
  }
  void a_restored_run_goes_on_bit_for_bit() {
    QFETCH(QString, optimizer);
    QFETCH(QString, quantization);
    QFETCH(bool, packing);
    Settings settings = exact_settings();
    settings.optimizer = optimizer.toStdString();
    settings.quantization = quantization.toStdString();
    settings.packing = packing;
    settings.rank = 64;  // so that some tensors are large enough for 8-bit state
    settings.accumulation = 3;
    const auto rows = random_rows(30, 32, 8);
    const std::string saved = fresh(QTest::currentDataTag());
    std::filesystem::create_directories(std::filesystem::path(saved).parent_path());
    std::vector<double> whole;
    std::vector<float> parameters;
    {
      TrainingSetup setup(model_, settings, rows);
      whole = losses(setup.trainer(), 4);
      setup.trainer().save(saved, {});
      const auto rest = losses(setup.trainer(), 6);
      whole.insert(whole.end(), rest.begin(), rest.end());
      parameters = setup.parameters();
    }
    TrainingSetup resumed(model_, settings, rows);
    resumed.trainer().restore(saved);
    QCOMPARE(resumed.trainer().step_number(), std::int64_t{4});
    const auto rest = losses(resumed.trainer(), 6);
    for (std::size_t i = 0; i < rest.size(); ++i) QCOMPARE(rest[i], whole[4 + i]);
    QVERIFY(resumed.parameters() == parameters);
  }

  void a_cancelled_step_has_not_happened() {
    const auto rows = random_rows(20, 32, 9);
    TrainingSetup plain(model_, exact_settings(), rows), disturbed(model_, exact_settings(), rows);
    for (int step = 0; step < 3; ++step) {
      int calls = 0;
      QVERIFY_EXCEPTION_THROWN(disturbed.trainer().step([&] {
        if (++calls == 3 + step) throw Error(ErrorCode::cancelled, "stop");
      }),
                               Error);
      QCOMPARE(disturbed.trainer().step().loss, plain.trainer().step().loss);
    }
    QVERIFY(plain.parameters() == disturbed.parameters());
  }

  void a_step_that_is_not_finite_changes_nothing() {
    const auto rows = random_rows(10, 16, 10);
    TrainingSetup setup(model_, exact_settings(), rows);
    setup.trainer().step();
    std::vector<float> broken = setup.parameters();
    broken[0] = std::numeric_limits<float>::quiet_NaN();
    setup.backend().upload(setup.adapter().parameters(), broken.data());
    const StepReport report = setup.trainer().step();
    QVERIFY(report.skipped);
    QCOMPARE(setup.trainer().skipped_steps(), std::int64_t{1});
    const auto after = setup.parameters();
    QVERIFY(std::equal(after.begin() + 1, after.end(), broken.begin() + 1));
  }

  void n04_steps_are_exact_for_every_number_of_rows_data() {
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("accumulation");
    QTest::addColumn<double>("epochs");
    QTest::addColumn<int>("max_steps");
    QTest::addColumn<int>("steps");
    // batch 2: the last step of an epoch takes what is left
    QTest::newRow("9 rows, 3 epochs") << 9 << 2 << 3.0 << 0 << 9;
    QTest::newRow("one row") << 1 << 4 << 1.0 << 0 << 1;
    QTest::newRow("one row, 5 epochs") << 1 << 4 << 5.0 << 0 << 5;
    QTest::newRow("exactly one step") << 8 << 4 << 1.0 << 0 << 1;
    QTest::newRow("one row more") << 9 << 4 << 1.0 << 0 << 2;
    QTest::newRow("three epochs") << 17 << 4 << 3.0 << 0 << 9;
    QTest::newRow("half an epoch") << 32 << 4 << 0.5 << 0 << 2;
    QTest::newRow("two and a half epochs") << 32 << 4 << 2.5 << 0 << 10;
    QTest::newRow("more steps than an epoch has") << 9 << 2 << 1.0 << 7 << 7;
    QTest::newRow("fewer steps than an epoch has") << 32 << 4 << 3.0 << 1 << 1;
  }
  void n04_steps_are_exact_for_every_number_of_rows() {
    QFETCH(int, rows);
    QFETCH(int, accumulation);
    QFETCH(double, epochs);
    QFETCH(int, max_steps);
    QFETCH(int, steps);
    Settings settings = exact_settings();
    settings.max_steps = max_steps;
    settings.packing = false;
    settings.epochs = epochs;
    settings.accumulation = accumulation;
    TrainingSetup setup(model_, settings, random_rows(rows, 12, 11));
    QCOMPARE(setup.plan().steps, std::int64_t{steps});
    double epoch = 0;
    std::int64_t taken = 0;
    std::multiset<std::int64_t> seen;
    while (!setup.trainer().finished()) {
      const StepReport report = setup.trainer().step();
      ++taken;
      epoch = report.epoch;
      seen.insert(report.rows.begin(), report.rows.end());
    }
    QCOMPARE(taken, std::int64_t{steps});
    if (max_steps == 0) QVERIFY2(std::abs(epoch - epochs) < 1e-9, qPrintable(QString::number(epoch)));
    // Whole epochs have every row once, the begun one has it once at most.
    const auto whole = static_cast<std::size_t>(std::floor(epoch + 1e-9));
    const std::size_t most = whole + (epoch - static_cast<double>(whole) > 1e-9 ? 1 : 0);
    for (int row = 1; row <= rows; ++row) QVERIFY(seen.count(row) >= whole && seen.count(row) <= most);
  }

  void evaluation_does_not_depend_on_how_rows_are_grouped() {
    const auto rows = random_rows(30, 32, 12);
    Settings small = exact_settings(), large = exact_settings();
    small.batch_size = 1;
    large.batch_size = 16;
    TrainingSetup one(model_, small, rows, rows), other(model_, large, rows, rows);
    const Evaluation a = one.trainer().evaluate(), b = other.trainer().evaluate();
    QVERIFY(relative(a.loss, b.loss) <= 1e-6);
    QCOMPARE(a.tokens, b.tokens);
    QVERIFY(relative(a.perplexity, std::exp(a.loss)) <= 1e-12);
  }

  void a_broken_checkpoint_is_put_aside_and_the_older_one_used() {
    const auto rows = random_rows(10, 16, 13);
    TrainingSetup setup(model_, exact_settings(), rows);
    const auto run = RunFolder::create(fresh("run"), Job{});
    QCOMPARE(newest_checkpoint(run), std::string());
    for (const std::int64_t step : {1, 2, 3}) {
      setup.trainer().step();
      setup.trainer().save(run.checkpoint_path(step), {});
    }
    QCOMPARE(newest_checkpoint(run), run.checkpoint_path(3));
    std::filesystem::resize_file(run.checkpoint_path(3) + "/optimizer.bin", 100);
    QCOMPARE(newest_checkpoint(run), run.checkpoint_path(2));
    QVERIFY(std::filesystem::exists(run.path() + "/checkpoints/broken/step-3"));
    std::string bytes = read_file(run.checkpoint_path(2) + "/adapter_model.safetensors");
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    write_file_atomically(run.checkpoint_path(2) + "/adapter_model.safetensors", bytes);
    QCOMPARE(newest_checkpoint(run), run.checkpoint_path(1));
    std::filesystem::remove(run.checkpoint_path(1) + "/manifest.json");
    QCOMPARE(newest_checkpoint(run), std::string());
  }

  void old_checkpoints_go_and_the_newest_stay() {
    const auto rows = random_rows(10, 16, 14);
    TrainingSetup setup(model_, exact_settings(), rows);
    const auto run = RunFolder::create(fresh("run-old"), Job{});
    for (const std::int64_t step : {9, 10, 11}) setup.trainer().save(run.checkpoint_path(step), {});
    remove_old_checkpoints(run, 2, {run.checkpoint_path(11)});
    QVERIFY(!std::filesystem::exists(run.checkpoint_path(9)));
    QVERIFY(std::filesystem::exists(run.checkpoint_path(10)));
    QVERIFY(std::filesystem::exists(run.checkpoint_path(11)));
  }

  void the_plan_names_the_arena_the_run_takes() {
    const auto rows = random_rows(40, 32, 15);
    TrainingSetup setup(model_, exact_settings(), rows);
    setup.trainer().step();
    const auto used = static_cast<double>(setup.trainer().arena_peak_bytes());
    const auto planned = static_cast<double>(setup.plan().memory.activations);
    QVERIFY2(used <= planned && used >= 0.5 * planned,
             qPrintable(QString("%1 of %2").arg(used).arg(planned)));
  }

  void a_run_that_does_not_fit_keeps_fewer_layers_and_learns_the_same() {
    const auto rows = random_rows(20, 32, 16);
    Settings wide = exact_settings(), narrow = exact_settings();
    TrainingSetup one(model_, wide, rows);
    const ModelSpec spec = read_model_spec(model_);
    const DataShape shape = data_shape(rows, {}, narrow, 32);
    PlanDevice device = plan_device(one.backend(), DType::f32);
    device.memory_limit_bytes = one.plan().memory.total() - 1;
    Plan tight = make_plan(spec, shape, narrow, device);
    QVERIFY(tight.fits);
    QVERIFY(tight.recomputed_layers > 0);
    QVERIFY(!make_plan(spec, shape, narrow, {1000, 4}).fits);
  }
};

QTEST_GUILESS_MAIN(TestTrainer)
#include "test_trainer.moc"
