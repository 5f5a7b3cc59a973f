// SPDX-License-Identifier: Apache-2.0
// Ten LoRA steps against PyTorch and PEFT (tests/golden/README.md): losses, gradients and the finished
// adapter, at most 1e-4 relative in f32.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/golden_tests/golden_training.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr double tolerance = 1e-4;
double relative(double got, double expected) {
  return std::fabs(got / expected - 1);
}

}  // namespace

class TestGoldenTraining : public QObject {
  Q_OBJECT

 private:
  static void compare_block(golden::Training& t, TensorView block, const std::string& file) {
    qInfo("%s: %.1e", file.c_str(), t.compare(block, file, tolerance));
  }

 private slots:
  void ten_steps_follow_pytorch_data() {
    QTest::addColumn<int>("recomputed_layers");
    QTest::addColumn<int>("threads");
    QTest::newRow("activations kept, one thread") << 0 << 1;
    QTest::newRow("activations recomputed, two threads") << 2 << 2;
    QTest::newRow("one layer recomputed") << 1 << 1;
  }

  void ten_steps_follow_pytorch() {
    QFETCH(int, recomputed_layers);
    QFETCH(int, threads);
    golden::Training t(recomputed_layers, threads);
    const auto run = golden::read_json("lora_10_steps/run.json");
    QCOMPARE(t.trainer->total_steps(), 10);
    double worst_loss = 0, worst_norm = 0;
    for (const auto& expected : run.at("curve")) {
      const StepReport got = t.trainer->step();
      QCOMPARE(got.step, expected.at("step").get<std::int64_t>());
      QCOMPARE(got.trained_tokens, expected.at("trained_tokens").get<std::int64_t>());
      QCOMPARE(got.tokens, expected.at("tokens").get<std::int64_t>());
      QVERIFY(relative(got.learning_rate, expected.at("learning_rate").get<double>()) <= 1e-6);
      worst_loss = std::max(worst_loss, relative(got.loss, expected.at("loss").get<double>()));
      worst_norm = std::max(worst_norm, relative(got.grad_norm, expected.at("grad_norm").get<double>()));
      QVERIFY(worst_loss <= tolerance);
      QVERIFY(worst_norm <= tolerance);
      if (got.step == 1 || got.step == 2 || got.step == 10)
        compare_block(t, t.trainer->gradients(),
                      "lora_10_steps/gradients_step_" + std::to_string(got.step) + ".safetensors");
    }
    qInfo("loss: %.1e, gradient norm: %.1e", worst_loss, worst_norm);
    compare_block(t, t.adapter.parameters(), "lora_10_steps/adapter_final/adapter_model.safetensors");
  }

  void the_finished_adapter_of_peft_gives_its_logits() {
    golden::TinyModel model("tiny_llama");
    const LoraAdapter adapter =
        LoraAdapter::load(model.backend(), model.spec(), golden::path("lora_10_steps/adapter_final"));
    const auto tensors = golden::read_tensors("lora_10_steps/logits_final.safetensors");
    for (const char* number : {"2", "3"}) {
      const auto ids = tensors.at(std::string("ids_") + number).integers();
      std::vector<std::int32_t> every(ids.size());
      for (std::size_t i = 0; i < every.size(); ++i) every[i] = static_cast<std::int32_t>(i);
      const auto got = model.logits(&adapter, ids, every);
      const auto expected = tensors.at(std::string("logits_") + number).floats();
      QVERIFY(golden::largest_difference(got, expected) <= tolerance);
    }
  }
};

QTEST_GUILESS_MAIN(TestGoldenTraining)
#include "test_golden_training.moc"
