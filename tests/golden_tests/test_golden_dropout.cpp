// SPDX-License-Identifier: Apache-2.0
// Ten LoRA steps with dropout and with noise on the embeddings against PyTorch and PEFT, whose random numbers
// were replaced by the documented generator (tests/golden/README.md): losses, gradients and the finished
// adapter.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden_tests/golden_training.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double tolerance = 1e-4;
/// AdamW divides by gradients' sizes, so where those are nearly 0 the noise of f32 grows.
constexpr double final_tolerance = 5e-4;
double relative(double got, double expected) {
  return std::fabs(got / expected - 1);
}

}  // namespace

class TestGoldenDropout : public QObject {
  Q_OBJECT

 private:
  static void compare_block(golden::Training& t, TensorView block, const std::string& file, double allowed) {
    const auto tensors = golden::read_tensors(file);
    QCOMPARE(tensors.size(),
             golden::parts_of(t.adapter.modules().front()).size() * t.adapter.modules().size());
    double worst = 0;
    for (const LoraModule& module : t.adapter.modules())
      for (const char part : golden::parts_of(module)) {
        const std::string name = golden::peft_name(module, part);
        const auto got = golden::module_values(t.model.backend(), t.adapter, block, module, part);
        const double off = golden::relative_difference(got, tensors.at(name).floats());
        QVERIFY2(off <= allowed, qPrintable(QString("%1: %2").arg(QString::fromStdString(name)).arg(off)));
        worst = std::max(worst, off);
      }
    qInfo("%s: %.1e", file.c_str(), worst);
  }

 private slots:
  void ten_steps_follow_pytorch_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("recomputed_layers");
    QTest::addColumn<int>("threads");
    QTest::newRow("dropout") << "dropout" << 0 << 1;
    QTest::newRow("dropout, recomputed, two threads") << "dropout" << 2 << 2;
    QTest::newRow("noise") << "neftune" << 0 << 1;
    QTest::newRow("both, one layer recomputed") << "both" << 1 << 1;
    QTest::newRow("DoRA with dropout") << "dora" << 0 << 1;
    QTest::newRow("DoRA with dropout, recomputed, two threads") << "dora" << 2 << 2;
  }

  void ten_steps_follow_pytorch() {
    QFETCH(QString, name);
    QFETCH(int, recomputed_layers);
    QFETCH(int, threads);
    const std::string folder = "lora_dropout/", prefix = folder + name.toStdString();
    const auto run = golden::read_json(folder + "run.json").at("cases").at(name.toStdString());
    Settings settings = golden::ten_step_settings();
    settings.dropout = run.at("dropout").get<double>();
    settings.neftune = run.at("neftune").get<double>();
    const auto variant = run.at("variant").get<std::string>();
    auto training = variant.empty()
                        ? std::make_unique<golden::Training>(recomputed_layers, threads, settings)
                        : std::make_unique<golden::Training>(variant, recomputed_layers, threads, settings);
    golden::Training& t = *training;
    double worst_loss = 0, worst_norm = 0;
    for (const auto& expected : run.at("curve")) {
      if (expected.at("step") == 4) t.resume();  // in the middle of the curve of a run that was not
      const StepReport got = t.trainer->step();
      QCOMPARE(got.step, expected.at("step").get<std::int64_t>());
      worst_loss = std::max(worst_loss, relative(got.loss, expected.at("loss").get<double>()));
      worst_norm = std::max(worst_norm, relative(got.grad_norm, expected.at("grad_norm").get<double>()));
      QVERIFY2(worst_loss <= tolerance, qPrintable(QString::number(worst_loss)));
      QVERIFY2(worst_norm <= tolerance, qPrintable(QString::number(worst_norm)));
      if (got.step == 1 || got.step == 10)
        compare_block(t, t.trainer->gradients(),
                      prefix + "_gradients_step_" + std::to_string(got.step) + ".safetensors", tolerance);
      if (QTest::currentTestFailed()) return;
    }
    qInfo("loss: %.1e, gradient norm: %.1e", worst_loss, worst_norm);
    compare_block(t, t.adapter.parameters(), prefix + "_final.safetensors", final_tolerance);
  }
};

QTEST_GUILESS_MAIN(TestGoldenDropout)
#include "test_golden_dropout.moc"
