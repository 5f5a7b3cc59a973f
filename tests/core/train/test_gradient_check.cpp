// SPDX-License-Identifier: Apache-2.0
// Parts of an adapter that do not learn are named in the first steps.
#include <QtTest>

#include "core/train/gradient_check.h"
#include "tests/core/train/training_support.h"

using namespace lorikeet;
using namespace lorikeet::test;

class TestGradientCheck : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string model_;

  /// Codes of what is found in the first steps of a run, one text a step.
  static std::vector<std::string> codes(TrainingSetup& setup, int steps) {
    GradientCheck check(setup.backend(), setup.adapter());
    std::vector<std::string> all;
    for (int i = 0; i < steps; ++i) {
      const StepReport report = setup.trainer().step();
      std::string text;
      for (const auto& finding : check.after_step(report, setup.trainer().gradients()))
        text += (text.empty() ? "" : " ") + finding.code + (finding.nothing_learns ? "!" : "");
      all.push_back(text);
    }
    return all;
  }

 private slots:
  void initTestCase() {
    model_ = folder_.path().toStdString() + "/model";
    write_tiny_folder(model_, TinyModel{});
  }

  void n16_every_part_learns_whichever_layers_are_recomputed_data() {
    QTest::addColumn<int>("recomputed");
    QTest::addColumn<int>("warmup");
    QTest::newRow("kept") << 0 << 0;
    QTest::newRow("one recomputed") << 1 << 0;
    QTest::newRow("all recomputed") << 2 << 0;
    QTest::newRow("all recomputed, the first rate is 0") << 2 << 3;
  }
  void n16_every_part_learns_whichever_layers_are_recomputed() {
    QFETCH(int, recomputed);
    QFETCH(int, warmup);
    Settings settings = exact_settings();
    settings.warmup_steps = warmup;
    TrainingSetup setup(model_, settings, random_rows(40, 32, 1), {}, DType::f32, recomputed);
    GradientCheck check(setup.backend(), setup.adapter());
    const int steps = warmup == 0 ? 2 : 3;
    for (int i = 0; i < steps; ++i) {
      QVERIFY(!check.done());
      const StepReport report = setup.trainer().step();
      for (const auto& finding : check.after_step(report, setup.trainer().gradients()))
        QFAIL(finding.what.c_str());
    }
    QVERIFY(check.done());
    for (const ModuleSquares& module :
         module_squares(setup.backend(), setup.adapter(), setup.adapter().parameters()))
      QVERIFY2(module.b > 0, module.module.c_str());
  }

  void modules_without_gradient_are_named() {
    TrainingSetup setup(model_, exact_settings(), random_rows(40, 32, 2));
    GradientCheck check(setup.backend(), setup.adapter());
    const StepReport report = setup.trainer().step();
    const LoraModule& mute = setup.adapter().modules()[3];
    const auto offset = mute.b.as<float>() - setup.adapter().parameters().as<float>();
    setup.backend().fill_zero(setup.trainer().gradients().row_range(offset, mute.b.elements()));
    const auto findings = check.after_step(report, setup.trainer().gradients());
    QCOMPARE(findings.size(), std::size_t{1});
    QCOMPARE(findings[0].code, std::string("no_gradient"));
    QVERIFY(!findings[0].nothing_learns);
    QCOMPARE(findings[0].what,
             std::string("Step 1 gave B no gradient in 1 of 14 modules: model.layers.0." + mute.name));
  }

  void a_run_that_learns_nothing_is_said_to() {
    Settings settings = exact_settings();
    settings.learning_rate = 1e-30;  // below what changes a number of f32
    TrainingSetup setup(model_, settings, random_rows(40, 32, 3));
    randomise_b(setup.backend(), setup.adapter(), 1);
    QCOMPARE(codes(setup, 2), (std::vector<std::string>{"not_moved!", ""}));
    // A of zeros as B of zeros: no gradient for either, ever.
    TrainingSetup dead(model_, exact_settings(), random_rows(40, 32, 4));
    dead.backend().fill_zero(dead.adapter().parameters());
    QCOMPARE(codes(dead, 2), (std::vector<std::string>{"no_gradient! not_moved!", "no_gradient!"}));
  }

  void a_skipped_step_says_nothing() {
    TrainingSetup setup(model_, exact_settings(), random_rows(40, 32, 5));
    GradientCheck check(setup.backend(), setup.adapter());
    StepReport report;
    report.step = 1;
    report.skipped = true;
    setup.backend().fill_zero(setup.trainer().gradients());
    QVERIFY(check.after_step(report, setup.trainer().gradients()).empty());
    QVERIFY(!check.done());
  }
};

QTEST_GUILESS_MAIN(TestGradientCheck)
#include "test_gradient_check.moc"
