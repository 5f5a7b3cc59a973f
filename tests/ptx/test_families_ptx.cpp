// SPDX-License-Identifier: Apache-2.0
// Every family of models on the CUDA back end, interpreted, beside the processor: five steps of training, and
// chat.
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/infer/session.h"
#include "kernels/base/error.h"
#include "tests/core/train/training_support.h"
#include "tests/ptx/control.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using namespace lorikeet::test;

namespace {

constexpr int steps = 5;
constexpr std::int64_t vocabulary = 96;

Settings settings_for(const char* device) {
  Settings settings = exact_settings();
  settings.device = device;
  settings.quantization = "nf4";
  settings.max_steps = steps;
  settings.max_length = 48;
  settings.dropout = 0.1;
  return settings;
}

/// Rows longer than the smallest sliding window.
std::vector<TokenRow> rows() {
  std::vector<TokenRow> all = random_rows(12, 40, 3);
  for (TokenRow& row : all) {
    for (TokenId& id : row.ids) id = 3 + id % static_cast<TokenId>(vocabulary - 3);
    for (std::size_t t = 0; t + 1 < row.ids.size(); ++t) {
      if (row.targets[t] >= 0) row.targets[t] = row.ids[t + 1];
    }
  }
  return all;
}

std::string folder_of(const QString& name) {
  return golden::path("families/" + name.toStdString());
}

}  // namespace

class TestFamiliesPtx : public QObject {
  Q_OBJECT

  static void add_families() {
    QTest::addColumn<QString>("name");
    const auto meta = golden::read_json("families/meta.json");
    for (const auto& [name, facts] : meta.at("models").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }

  struct Outcome {
    std::vector<double> losses;
    std::vector<float> logits;
  };
  static Outcome run(const std::string& folder, const Settings& settings, DType compute,
                     std::int64_t recomputed) {
    TrainingSetup setup(folder, settings, rows(), {}, compute, recomputed);
    Outcome outcome;
    for (int i = 0; i < steps; ++i) outcome.losses.push_back(setup.trainer().step().loss);
    Session session(setup.model(), compute, 48);
    session.set_adapters({{&setup.adapter(), 1.0}});
    std::vector<TokenId> prompt = rows().front().ids;
    session.prefill(prompt);
    session.decode(prompt.front());
    outcome.logits = session.logits();
    return outcome;
  }

 private slots:
  void training_and_chat_agree_with_the_processor_data() { add_families(); }
  void training_and_chat_agree_with_the_processor() {
    QFETCH(QString, name);
    const Outcome here = run(folder_of(name), settings_for("cpu"), DType::f32, 0);
    const auto worst_loss = [&](const Outcome& there) {
      double worst = 0;
      for (std::size_t i = 0; i < steps; ++i)
        worst = std::max(worst, std::abs(there.losses[i] - here.losses[i]) / here.losses[i]);
      return worst;
    };
    for (const std::int64_t recomputed : {0, 1}) {
      const Outcome there = run(folder_of(name), settings_for("cuda"), DType::f32, recomputed);
      const double loss = worst_loss(there), logits = golden::relative_difference(there.logits, here.logits);
      qInfo("f32: losses %.1e, logits %.1e; loss %.4f to %.4f", loss, logits, there.losses.front(),
            there.losses.back());
      QVERIFY2(loss <= 1e-5, qPrintable(QString::number(loss)));
      QVERIFY2(logits <= 2e-4, qPrintable(QString::number(logits)));
    }
    const DType half = ptx::architecture() >= 80 ? DType::bf16 : DType::f16;
    const Outcome there = run(folder_of(name), settings_for("cuda"), half, 2);
    const double loss = worst_loss(there);
    qInfo("16 bits: losses %.1e", loss);
    QVERIFY2(loss <= 1e-2, qPrintable(QString::number(loss)));
  }
};

QTEST_GUILESS_MAIN(TestFamiliesPtx)
#include "test_families_ptx.moc"
