// SPDX-License-Identifier: Apache-2.0
// What the plan counts against what the back end takes: a plan that says too little makes runs that die, one
// that says too much refuses runs that would do.
#include <QtTest>

#include "core/model/compute_choice.h"
#include "core/train/plan_work.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestPlanWork : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;

 private slots:
  void initTestCase() {
    model_ = folder_.path().toStdString() + "/model";
    TinyModel tiny;
    tiny.hidden_size = 128;
    tiny.intermediate_size = 320;
    tiny.head_dim = 32;
    tiny.layers = 3;
    tiny.vocab_size = 4096;
    tiny.context = 4096;
    write_tiny_folder(model_, tiny);
  }

  void the_plan_counts_what_the_back_end_takes_data() {
    QTest::addColumn<QStringList>("changes");
    QTest::newRow("nf4, 8-bit optimiser") << QStringList{};
    QTest::newRow("no quantisation, f32") << QStringList{"quantization", "none", "compute", "f32"};
    QTest::newRow("int8, f32, adamw")
        << QStringList{"quantization", "int8", "compute", "f32", "optimizer", "adamw"};
    QTest::newRow("rank 64 with a scale") << QStringList{"rank", "64", "alpha", "16"};
    QTest::newRow("two modules, without packing")
        << QStringList{"targets", "q_proj,v_proj", "packing", "false", "batch-size", "8"};
    QTest::newRow("long rows") << QStringList{"max-length", "2048", "batch-size", "1"};
  }
  void the_plan_counts_what_the_back_end_takes() {
    QFETCH(QStringList, changes);
    Settings settings;
    settings.memory_limit_bytes = 2'000'000'000;
    settings.max_length = 512;
    settings.eval_fraction = 0;
    for (qsizetype i = 0; i < changes.size(); i += 2)
      set_setting(settings, changes[i].toStdString(), changes[i + 1].toStdString());
    const std::int64_t longest = settings.max_length;
    const auto rows = random_rows(24, longest, 1);
    const auto backend = make_backend_for(settings);
    const DType compute = resolved_compute(settings, *backend);
    TrainingSetup setup(model_, settings, rows, {}, compute);
    for (int i = 0; i < 3; ++i) setup.trainer().step();
    const MemoryPlan& memory = setup.plan().memory;
    const auto planned = static_cast<double>(memory.total() - memory.host);
    const auto taken = static_cast<double>(setup.backend().budget().peak_bytes());
    qInfo("planned %.2f MB, taken %.2f MB, ratio %.3f", planned / 1e6, taken / 1e6, planned / taken);
    QVERIFY2(planned >= 0.97 * taken && planned <= 1.08 * taken + 1e6,
             qPrintable(QString("%1 of %2").arg(planned).arg(taken)));
  }

  void the_last_layer_is_among_those_that_are_not_kept_and_is_not_run_again() {
    const auto keep = [](std::int64_t recomputed) { return kept_layers(4, recomputed); };
    QCOMPARE(keep(0), (std::vector<bool>{true, true, true, true}));
    QCOMPARE(keep(1), (std::vector<bool>{false, true, true, false}));
    QCOMPARE(keep(2), (std::vector<bool>{false, false, true, false}));
    QCOMPARE(keep(3), (std::vector<bool>{false, false, false, false}));
    QCOMPARE(keep(4), keep(3));
    QCOMPARE(kept_layers(1, 0), std::vector<bool>{true});
  }

  void every_recomputed_layer_frees_memory() {
    const ModelSpec spec = read_model_spec(model_);
    Settings settings;
    settings.max_length = 256;
    const PlanDevice device{1'000'000'000, 4};
    std::uint64_t before = UINT64_MAX;
    for (std::int64_t recomputed = 0; recomputed < spec.layers; ++recomputed) {
      const auto bytes = activation_bytes(spec, activation_shape(spec, settings, device, 512, recomputed));
      QVERIFY2(bytes < before, qPrintable(QString::number(recomputed)));
      before = bytes;
    }
  }
};

QTEST_GUILESS_MAIN(TestPlanWork)
#include "test_plan_work.moc"
