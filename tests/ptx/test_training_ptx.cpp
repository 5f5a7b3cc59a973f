// SPDX-License-Identifier: Apache-2.0
// Whole runs on the CUDA back end, interpreted: training against the processor, the number of launches,
// recordings, order of streams, memory that runs out at any place.
#include <QtTest>
#include <algorithm>
#include <cmath>

#include "core/model/compute_choice.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::test;

Q_DECLARE_METATYPE(lorikeet::DType)

class TestTrainingPtx : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string model(std::int64_t layers) {
    const std::string path = folder_.path().toStdString() + "/model-" + std::to_string(layers);
    if (QFile::exists(QString::fromStdString(path))) return path;
    TinyModel tiny;  // grouped keys, a tied head
    tiny.hidden_size = 64;
    tiny.intermediate_size = 96;
    tiny.heads = 4;
    tiny.kv_heads = 2;
    tiny.head_dim = 16;
    tiny.layers = layers;
    write_tiny_folder(path, tiny);
    return path;
  }

  static Settings settings(const char* device) {
    Settings settings = exact_settings();
    settings.device = device;
    settings.quantization = "nf4";
    settings.max_steps = 20;
    settings.accumulation = 2;
    settings.max_length = 32;
    return settings;
  }

  /// Rows of the same length and number of labels: every micro-batch has the same shape.
  static std::vector<TokenRow> even_rows(std::size_t length = 16) {
    std::vector<TokenRow> rows = random_rows(16, 16, 3);
    for (TokenRow& row : rows) {
      row.ids.resize(length, 7);
      row.targets.assign(length, -1);
      row.trained_tokens = 0;
      for (std::size_t t = 8; t + 1 < length; ++t) {
        row.targets[t] = row.ids[t + 1];
        ++row.trained_tokens;
      }
    }
    return rows;
  }

  struct Outcome {
    std::vector<double> losses;
    std::vector<float> parameters;
    std::int64_t skipped = 0;
    bool operator==(const Outcome&) const = default;
  };
  Outcome train(const Settings& settings, DType compute, std::int64_t recomputed, int steps,
                const std::function<void(Backend&)>& before_step = {}) {
    TrainingSetup setup(model(2), settings, random_rows(40, 32, 5), {}, compute, recomputed);
    Outcome outcome;
    for (int i = 0; i < steps; ++i) {
      if (before_step) before_step(setup.backend());
      if (!setup.trainer().begun()) setup.trainer().begin_step();
      outcome.losses.push_back(setup.trainer().finish_step({}, i + 1 < steps).loss);
    }
    outcome.parameters = setup.parameters();
    outcome.skipped = setup.trainer().skipped_steps();
    return outcome;
  }

  static std::uint64_t launches() {
    std::uint64_t count = 0;
    for (const auto& total : ptx::traffic()) {
      if (total.kind != ptx::LaunchKind::copy) count += total.launches;
    }
    return count;
  }

 private slots:
  void losses_agree_with_the_processor_data() {
    QTest::addColumn<DType>("compute");
    QTest::addColumn<QString>("optimizer");
    QTest::addColumn<int>("recomputed");
    QTest::addColumn<bool>("offload");
    QTest::addColumn<double>("tolerance");
    QTest::addColumn<bool>("dora");
    QTest::newRow("f32, kept") << DType::f32 << "adamw" << 0 << false << 1e-5 << false;
    QTest::newRow("f32, recomputed") << DType::f32 << "adamw-8bit" << 2 << false << 1e-5 << false;
    QTest::newRow("f32, offloaded") << DType::f32 << "adamw" << 2 << true << 1e-5 << false;
    QTest::newRow("f32, one kept, one offloaded") << DType::f32 << "adamw" << 1 << true << 1e-5 << false;
    QTest::newRow("bf16, recomputed") << DType::bf16 << "adamw-8bit" << 2 << false << 5e-3 << false;
    QTest::newRow("f16 with loss scaling") << DType::f16 << "adamw" << 2 << false << 5e-3 << false;
    QTest::newRow("DoRA, f32, kept") << DType::f32 << "adamw" << 0 << false << 1e-5 << true;
    QTest::newRow("DoRA, f32, one offloaded") << DType::f32 << "adamw-8bit" << 1 << true << 1e-5 << true;
    QTest::newRow("DoRA, bf16, recomputed") << DType::bf16 << "adamw" << 2 << false << 5e-3 << true;
    QTest::newRow("DoRA, f16 with loss scaling") << DType::f16 << "adamw" << 0 << false << 5e-3 << true;
  }
  void losses_agree_with_the_processor() {
    QFETCH(DType, compute);
    QFETCH(QString, optimizer);
    QFETCH(int, recomputed);
    QFETCH(bool, offload);
    QFETCH(double, tolerance);
    QFETCH(bool, dora);
    Settings there = settings("cuda"), here = settings("cpu");
    there.dora = here.dora = dora;
    there.optimizer = here.optimizer = optimizer.toStdString();
    if (!make_backend({.device = "cuda"})->supports(compute))
      QSKIP("this card does not compute in this type");
    // The processor has no f16: f32 stands for it.
    const Outcome expected = train(here, compute == DType::f16 ? DType::f32 : compute, 0, 20);
    there.offload = offload;
    const Outcome found = train(there, compute, recomputed, 20);
    double worst = 0;
    for (std::size_t i = 0; i < 20; ++i)
      worst = std::max(worst, std::abs(found.losses[i] - expected.losses[i]) / expected.losses[i]);
    qInfo("largest relative difference of 20 losses: %.2e (allowed %.0e); loss %.4f to %.4f", worst,
          tolerance, found.losses.front(), found.losses.back());
    QCOMPARE(found.skipped, std::int64_t{0});
    QVERIFY2(worst <= tolerance, qPrintable(QString::number(worst)));
    QVERIFY(found.losses.back() < found.losses.front());
  }

  void dropout_and_noise_agree_with_the_processor_data() {
    QTest::addColumn<DType>("compute");
    QTest::addColumn<int>("recomputed");
    QTest::addColumn<bool>("offload");
    QTest::addColumn<double>("tolerance");
    QTest::newRow("f32, kept") << DType::f32 << 0 << false << 1e-5;
    QTest::newRow("f32, offloaded") << DType::f32 << 2 << true << 1e-5;
    QTest::newRow("bf16, recomputed") << DType::bf16 << 2 << false << 5e-3;
    QTest::newRow("f16, one recomputed") << DType::f16 << 1 << false << 5e-3;
    QTest::newRow("DoRA, f32, one recomputed") << DType::f32 << 1 << false << 1e-5;
    QTest::newRow("DoRA, bf16, offloaded") << DType::bf16 << 2 << true << 1e-2;
  }
  void dropout_and_noise_agree_with_the_processor() {
    QFETCH(DType, compute);
    QFETCH(int, recomputed);
    QFETCH(bool, offload);
    QFETCH(double, tolerance);
    Settings there = settings("cuda"), here = settings("cpu");
    if (!make_backend({.device = "cuda"})->supports(compute))
      QSKIP("this card does not compute in this type");
    there.dora = here.dora = QString(QTest::currentDataTag()).startsWith("DoRA");
    const Outcome without = train(here, DType::f32, 0, 4);
    there.dropout = here.dropout = 0.15;
    there.neftune = here.neftune = 5;
    const Outcome expected = train(here, compute == DType::f16 ? DType::f32 : compute, 0, 10);
    there.offload = offload;
    const Outcome found = train(there, compute, recomputed, 10);
    double worst = 0;
    for (std::size_t i = 0; i < 10; ++i)
      worst = std::max(worst, std::abs(found.losses[i] - expected.losses[i]) / expected.losses[i]);
    qInfo("largest relative difference of 10 losses: %.2e (allowed %.0e)", worst, tolerance);
    QVERIFY2(worst <= tolerance, qPrintable(QString::number(worst)));
    QVERIFY(without.losses[3] != expected.losses[3]);
  }

  void automatic_takes_the_number_type_the_card_is_made_for() {
    const auto backend = make_backend_for(settings("cuda"));
    QCOMPARE(backend->fuses_parts(), cuda_layout.fuses_parts);  // what the plan counts with
    QCOMPARE(backend->token_multiple(), cuda_layout.token_multiple);
    QCOMPARE(backend->tail_columns(576, 96), cuda_layout.tail_columns(576, 96));
    Settings automatic;
    QCOMPARE(resolved_compute(automatic, *backend), ptx::architecture() >= 80 ? DType::bf16 : DType::f16);
    automatic.compute = "f16";
    QCOMPARE(resolved_compute(automatic, *backend), DType::f16);
    automatic.compute = "bf16";
    if (ptx::architecture() < 80) QVERIFY_EXCEPTION_THROWN(resolved_compute(automatic, *backend), Error);
  }

  void gradients_too_large_for_f16_are_skipped_until_the_scale_is_found() {
    const auto run = [&](bool look_ahead) {
      TrainingSetup setup(model(2), settings("cuda"), random_rows(40, 32, 5), {}, DType::f16, 2);
      // A table of large numbers makes large gradients below the head.
      const TensorView table = setup.model().embedding();
      Tensor wide = setup.backend().allocate(table.shape, DType::f32);
      std::vector<float> values(static_cast<std::size_t>(table.elements()));
      setup.backend().copy(wide, table);
      setup.backend().download(values.data(), wide);
      for (float& value : values) value *= 2000;
      setup.backend().upload(wide, values.data());
      setup.backend().copy(table, wide);
      std::vector<StepReport> reports;
      for (int i = 0; i < 12; ++i) {
        if (!setup.trainer().begun()) setup.trainer().begin_step();
        reports.push_back(setup.trainer().finish_step({}, look_ahead && i + 1 < 12));
      }
      return reports;
    };
    const auto reports = run(true), others = run(false);
    QVERIFY(reports.front().skipped && std::isfinite(reports.front().loss));
    QVERIFY(!reports.back().skipped && reports.back().loss_scale < reports.front().loss_scale);
    for (std::size_t i = 0; i < reports.size(); ++i) {
      QCOMPARE(reports[i].loss_scale, others[i].loss_scale);
      QCOMPARE(reports[i].loss, others[i].loss);
      QCOMPARE(reports[i].skipped, !std::isfinite(reports[i].grad_norm));
    }
    qInfo("scale %g to %g", reports.front().loss_scale, reports.back().loss_scale);
  }

  void a_layer_takes_at_most_sixty_launches_data() {
    QTest::addColumn<int>("length");
    QTest::newRow("products straight from the stored weights") << 16;
    QTest::newRow("products of dequantised weights") << 200;
  }
  void a_layer_takes_at_most_sixty_launches() {
    QFETCH(int, length);
    Settings cuda = settings("cuda");
    cuda.accumulation = 1;
    cuda.max_length = length;
    const DType compute = ptx::architecture() >= 80 ? DType::bf16 : DType::f16;
    const auto of_a_step = [&](std::int64_t layers) {
      TrainingSetup setup(model(layers), cuda, even_rows(static_cast<std::size_t>(length)), {}, compute,
                          layers);
      setup.trainer().step();
      setup.trainer().step();
      ptx::reset_traffic();
      setup.trainer().step();
      return launches();
    };
    const std::uint64_t two = of_a_step(2), three = of_a_step(3);
    qInfo("launches of a step with one micro-batch: %d with 2 layers, %d with 3, so %d a layer",
          static_cast<int>(two), static_cast<int>(three), static_cast<int>(three - two));
    QVERIFY2(three - two <= 60, qPrintable(QString::number(three - two)));
    QVERIFY2(two - 2 * (three - two) <= 20, "beside the layers");
  }

  void recordings_and_the_order_of_streams_change_no_bit() {
    const DType compute = ptx::architecture() >= 80 ? DType::bf16 : DType::f16;
    Settings cuda = settings("cuda");
    cuda.optimizer = "adamw-8bit";
    const Outcome recorded = train(cuda, compute, 1, 6);
    QVERIFY(train(cuda, compute, 1, 6, [](Backend& backend) { backend.forget_repeats(); }) == recorded);
    ptx::set_seed(77);
    QVERIFY(train(cuda, compute, 1, 6) == recorded);
    ptx::set_seed(1);
    cuda.offload = true;
    QVERIFY(train(cuda, compute, 1, 6) == recorded);
  }

  void recordings_draw_anew_in_every_batch() {
    const DType compute = ptx::architecture() >= 80 ? DType::bf16 : DType::f16;
    Settings cuda = settings("cuda");
    cuda.dropout = 0.2;
    cuda.neftune = 5;
    const Outcome recorded = train(cuda, compute, 1, 6);
    QVERIFY(train(cuda, compute, 1, 6, [](Backend& backend) { backend.forget_repeats(); }) == recorded);
    cuda.offload = true;
    QVERIFY(train(cuda, compute, 1, 6) == recorded);
  }

  void after_three_steps_nothing_is_allocated_data() {
    QTest::addColumn<double>("dropout");
    QTest::newRow("plain") << 0.0;
    QTest::newRow("dropout") << 0.2;
  }
  void after_three_steps_nothing_is_allocated() {
    QFETCH(double, dropout);
    Settings cuda = settings("cuda");
    cuda.dropout = dropout;
    TrainingSetup setup(model(2), cuda, even_rows(), {}, DType::f32, 1);
    for (int i = 0; i < 3; ++i) setup.trainer().step();
    const std::uint64_t before = ptx::allocations();
    for (int i = 0; i < 3; ++i) setup.trainer().step();
    QCOMPARE(ptx::allocations(), before);
    QVERIFY(setup.backend().budget().peak_bytes() <= setup.plan().memory.total());
    const ModelSpec spec = read_model_spec(model(2));
    QCOMPARE(
        setup.trainer().arena_peak_bytes(),
        activation_bytes(spec, activation_shape(spec, cuda, {1, 4, true}, setup.plan().largest_batch, 1)));
  }

  void memory_that_runs_out_anywhere_is_an_error_at_most() {
    Settings cuda = settings("cuda");
    cuda.offload = true;
    cuda.accumulation = 1;
    const auto rows = even_rows();
    const auto run = [&] {
      TrainingSetup setup(model(1), cuda, rows, {}, DType::f32, 1);
      std::vector<double> losses;
      for (int i = 0; i < 3; ++i) losses.push_back(setup.trainer().step().loss);
      return losses;
    };
    const auto expected = run();
    const auto is_near = [&expected](const std::vector<double>& losses) {
      return std::equal(losses.begin(), losses.end(), expected.begin(), expected.end(),
                        [](double a, double b) { return std::abs(a - b) <= 1e-5 * a; });
    };
    std::uint64_t n = 1;
    int without = 0;
    for (;; ++n) {
      const std::uint64_t before = ptx::allocations();
      ptx::fail_allocation(n);
      try {
        const auto losses = run();
        ptx::fail_allocation(0);
        QVERIFY(is_near(losses));
        if (ptx::allocations() - before < n) {
          QVERIFY(losses == expected);
          break;
        }
        ++without;  // it needs no workspace of cublasLt and no recordings
      } catch (const Error& error) {
        ptx::fail_allocation(0);
        QVERIFY2(error.code() == ErrorCode::out_of_memory, error.what());
      }
      if (n % 16 == 0) QVERIFY(run() == expected);  // the same process goes on
    }
    qInfo("%d allocations, each refused once; without %d of them runs go on", int(n - 1), without);
    QVERIFY(without >= 3);
    QVERIFY(n > 20);
    QCOMPARE(ptx::memory_used(), std::size_t{0});
    cuda.device = "cpu";
    cuda.offload = false;
    QVERIFY(is_near(run()));
  }
};

QTEST_GUILESS_MAIN(TestTrainingPtx)
#include "test_training_ptx.moc"
