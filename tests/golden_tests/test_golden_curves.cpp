// SPDX-License-Identifier: Apache-2.0
// Ten steps for each option that changes their numbers, and every schedule, against transformers, PyTorch and
// the rules of bitsandbytes (tests/golden/README.md).
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/data/length_groups.h"
#include "core/train/schedule.h"
#include "tests/golden_tests/golden_training.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using Json = nlohmann::ordered_json;

namespace {

/// Our name of a schedule of transformers.
std::string our_schedule(const std::string& name) {
  if (name == "cosine_with_min_lr") return "cosine-min";
  if (name == "constant_with_warmup") return "constant";
  return name == "inverse_sqrt" ? "inverse-sqrt" : name;
}

Settings settings_of(const Json& options) {
  Settings settings = golden::ten_step_settings();
  settings.schedule = our_schedule(options.value("schedule", "linear"));
  settings.warmup_steps = options.value("warmup", 0);
  settings.min_rate = options.value("min_rate", 0.0);
  settings.max_grad_norm = options.value("max_grad_norm", settings.max_grad_norm);
  settings.weight_decay = options.value("weight_decay", settings.weight_decay);
  settings.train_on = options.value("train_on", settings.train_on);
  settings.optimizer = options.value("optimizer", settings.optimizer);
  settings.rank = options.value("rank", settings.rank);
  settings.alpha = options.value("alpha", settings.alpha);
  return settings;
}

double relative(double got, double expected) {
  return std::fabs(got / expected - 1);
}

}  // namespace

class TestGoldenCurves : public QObject {
  Q_OBJECT

 private slots:
  void rates_are_those_of_transformers_data() {
    QTest::addColumn<int>("index");
    int index = 0;
    const auto file = golden::read_json("schedules/rates.json");
    for (const auto& one : file.at("cases"))
      QTest::addRow("%s, %d steps, warm-up %d", one.at("schedule").get<std::string>().c_str(),
                    one.at("steps").get<int>(), one.at("warmup_steps").get<int>())
          << index++;
  }
  void rates_are_those_of_transformers() {
    QFETCH(int, index);
    const auto file = golden::read_json("schedules/rates.json");
    const auto& one = file.at("cases").at(static_cast<std::size_t>(index));
    const Schedule schedule{one.at("schedule").get<std::string>(), file.at("base_rate").get<double>(),
                            file.at("min_rate").get<double>(), one.at("steps").get<std::int64_t>(),
                            one.at("warmup_steps").get<std::int64_t>()};
    for (std::size_t i = 0; i < one.at("at").size(); ++i) {
      const auto step = one.at("at").at(i).get<std::int64_t>();
      const double got = schedule.rate_at(step), expected = one.at("rates").at(i).get<double>();
      QVERIFY2(std::fabs(got - expected) <= 1e-12 * schedule.base_rate,
               qPrintable(QString("step %1: %2 for %3").arg(step).arg(got).arg(expected)));
    }
  }

  void rows_are_grouped_by_length_as_transformers_does() {
    const auto file = golden::read_json("schedules/length_groups.json");
    for (const auto& one : file.at("cases")) {
      std::vector<TokenRow> rows;
      for (const auto& length : one.at("lengths")) {
        rows.emplace_back();
        rows.back().ids.assign(length.get<std::size_t>(), 5);
      }
      const auto order = one.at("order").get<std::vector<std::int64_t>>();
      QVERIFY(grouped_by_length(rows, order, one.at("batch").get<std::int64_t>()) ==
              one.at("grouped").get<std::vector<std::int64_t>>());
    }
  }

  void ten_steps_follow_the_golden_curve_data() {
    QTest::addColumn<QString>("name");
    const auto file = golden::read_json("training_curves/curves.json");
    for (const auto& [name, one] : file.at("cases").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void ten_steps_follow_the_golden_curve() {
    QFETCH(QString, name);
    const auto file = golden::read_json("training_curves/curves.json");
    const auto& one = file.at("cases").at(name.toStdString());
    const Settings settings = settings_of(one.at("options"));
    // A code of the 8-bit state may fall on the other side of an edge.
    const double tolerance = settings.optimizer == "adamw-8bit" && settings.rank == 64 ? 1e-4 : 1e-5;
    golden::Training t(settings), again(settings);
    double worst_loss = 0, worst_norm = 0;
    for (const auto& expected : one.at("curve")) {
      const StepReport got = t.trainer->step();
      if (got.step == 6) again.resume();
      const StepReport resumed = again.trainer->step();
      QVERIFY(resumed.loss == got.loss && resumed.grad_norm == got.grad_norm &&
              resumed.learning_rate == got.learning_rate);
      QCOMPARE(got.trained_tokens, expected.at("trained_tokens").get<std::int64_t>());
      QVERIFY(std::fabs(got.learning_rate - expected.at("learning_rate").get<double>()) <= 1e-12);
      const double loss = relative(got.loss, expected.at("loss").get<double>());
      if (got.step == 1) QVERIFY2(loss <= 1e-6, qPrintable(QString::number(loss)));
      worst_loss = std::max(worst_loss, loss);
      worst_norm = std::max(worst_norm, relative(got.grad_norm, expected.at("grad_norm").get<double>()));
    }
    qInfo("loss: %.1e, gradient norm: %.1e", worst_loss, worst_norm);
    QVERIFY(worst_loss <= tolerance);
    QVERIFY(worst_norm <= 10 * tolerance);
    const auto numbers = [](golden::Training& of) {
      std::vector<float> values(static_cast<std::size_t>(of.adapter.parameter_count()));
      of.model.backend().download(values.data(), of.adapter.parameters());
      return values;
    };
    QVERIFY2(numbers(t) == numbers(again), "a run that was resumed ends elsewhere");
  }

  void adamw_in_8_bits_learns_as_in_32() {
    const auto file = golden::read_json("training_curves/curves.json");
    const auto& wide = file.at("cases").at("rank 64").at("curve");
    Settings settings = settings_of(file.at("cases").at("adamw-8bit, rank 64").at("options"));
    golden::Training t(settings);
    for (const auto& expected : wide)
      QVERIFY(relative(t.trainer->step().loss, expected.at("loss").get<double>()) <= 0.01);
  }
};

QTEST_GUILESS_MAIN(TestGoldenCurves)
#include "test_golden_curves.moc"
