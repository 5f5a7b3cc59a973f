// SPDX-License-Identifier: Apache-2.0
// 8-bit AdamW and its maps against bitsandbytes (tests/golden/README.md says how the values were made and
// what may differ).
#include <QtTest>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "kernels/dynamic_map.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr std::int64_t block = 256;

/// What one golden case is run with.
struct Run {
  std::map<std::string, golden::GoldenTensor> tensors;
  std::string name;
  int gradients = 4;
  int steps = 10;

  const golden::GoldenTensor& at(const std::string& part) const { return tensors.at(name + "." + part); }
  const golden::GoldenTensor& at(const std::string& part, int step) const {
    return at(part + "_" + std::to_string(step));
  }
};

/// Parameters and both states on a back end.
struct Device {
  Device(Backend& owner, const std::vector<float>& start)
      : backend(owner), count(static_cast<std::int64_t>(start.size())), blocks((count + block - 1) / block) {
    parameters = backend.allocate({count}, DType::f32);
    gradient = backend.allocate({count}, DType::f32);
    for (Tensor* codes : {&m_codes, &v_codes}) *codes = backend.allocate({count}, DType::u8);
    for (Tensor* absmax : {&m_absmax, &v_absmax}) *absmax = backend.allocate({blocks}, DType::f32);
    backend.upload(parameters, start.data());
    for (Tensor* state : {&m_codes, &v_codes, &m_absmax, &v_absmax}) backend.fill_zero(*state);
  }

  void step(const std::vector<float>& g, const AdamStep& numbers) {
    backend.upload(gradient, g.data());
    backend.adamw_8bit(parameters, gradient, {m_codes, v_codes, m_absmax, v_absmax}, numbers);
  }

  template <typename T>
  std::vector<T> values(const Tensor& tensor) const {
    std::vector<T> host(static_cast<std::size_t>(tensor.view().elements()));
    backend.download(host.data(), tensor);
    return host;
  }

  Backend& backend;
  std::int64_t count, blocks;
  Tensor parameters, gradient, m_codes, v_codes, m_absmax, v_absmax;
};

/// Codes are equal where their block has a largest value at all.
int codes_that_differ(const std::vector<std::uint8_t>& got, const std::vector<std::int32_t>& expected,
                      const std::vector<float>& absmax) {
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (absmax[i / block] > 0 && got.at(i) != expected[i]) ++wrong;
  return wrong;
}

/// Largest |got - expected| beyond what README.md allows for parameters.
double excess(const std::vector<float>& got, const std::vector<float>& expected,
              const std::vector<float>& start) {
  double worst = -1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double moved = std::fabs(static_cast<double>(expected[i]) - static_cast<double>(start[i]));
    const double off = std::fabs(static_cast<double>(got.at(i)) - static_cast<double>(expected[i]));
    worst = std::isfinite(off) ? std::max(worst, off - 1e-7 - 1e-5 * moved) : 1e9;
  }
  return worst;
}

double relative_excess(const std::vector<float>& got, const std::vector<float>& expected) {
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(got.at(i)) - static_cast<double>(expected[i])) -
                                2e-5 * static_cast<double>(expected[i]));
  return worst;
}

}  // namespace

class TestGoldenOptimizer : public QObject {
  Q_OBJECT

 private:
  static AdamStep numbers(const nlohmann::ordered_json& meta, int step) {
    AdamStep s;
    s.learning_rate = meta.at("learning_rates").at(static_cast<std::size_t>(step - 1)).get<float>();
    s.weight_decay = meta.at("weight_decay").get<float>();
    s.step = step;
    return s;
  }

 private slots:
  void dynamic_maps_are_those_of_bitsandbytes() {
    const auto tensors = golden::read_tensors("bnb/maps.safetensors");
    QCOMPARE(golden::largest_difference(signed_dynamic_map(), tensors.at("signed").floats()), 0.0);
    QCOMPARE(golden::largest_difference(unsigned_dynamic_map(), tensors.at("unsigned").floats()), 0.0);
  }

  void values_get_the_nearest_entry_of_the_map_data() {
    QTest::addColumn<bool>("with_sign");
    QTest::newRow("signed map") << true;
    QTest::newRow("unsigned map") << false;
  }

  void values_get_the_nearest_entry_of_the_map() {
    QFETCH(bool, with_sign);
    const std::string name = with_sign ? "signed" : "unsigned";
    const DynamicMap& map = with_sign ? signed_dynamic_map() : unsigned_dynamic_map();
    const auto tensors = golden::read_tensors("bnb/maps.safetensors");
    const auto values = tensors.at(name + ".values").floats();
    const auto absmax = tensors.at(name + ".absmax").floats();
    const auto codes = tensors.at(name + ".codes").integers();
    for (std::size_t i = 0; i < values.size(); ++i)
      QCOMPARE(static_cast<int>(nearest_in_map(map, values[i] / absmax[i / block])), codes[i]);
  }

  void ten_steps_follow_bitsandbytes_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("gradients");
    QTest::addColumn<int>("steps");
    QTest::addColumn<int>("threads");
    QTest::newRow("4,096 elements, one thread") << "whole_blocks" << 4 << 10 << 1;
    QTest::newRow("4,096 elements, two threads") << "whole_blocks" << 4 << 10 << 2;
    QTest::newRow("5,000 elements, short last block") << "short_last_block" << 4 << 10 << 2;
    QTest::newRow("gradients that are not finite") << "not_finite" << 2 << 2 << 1;
  }

  void ten_steps_follow_bitsandbytes() {
    QFETCH(QString, name);
    QFETCH(int, gradients);
    QFETCH(int, steps);
    QFETCH(int, threads);
    const Run run{golden::read_tensors("adamw_8bit/trajectories.safetensors"), name.toStdString(), gradients,
                  steps};
    const auto meta = golden::read_json("adamw_8bit/meta.json");
    const auto backend = make_backend({.device = "cpu", .threads = threads});
    const std::vector<float> start = run.at("start").floats();
    Device device(*backend, start);
    for (int step = 1; step <= run.steps; ++step) {
      device.step(run.at("gradient", (step - 1) % run.gradients).floats(), numbers(meta, step));
      if (step != 1 && step != 2 && step != 10) continue;
      const std::vector<float> absmax1 = run.at("absmax1", step).floats();
      const std::vector<float> absmax2 = run.at("absmax2", step).floats();
      const auto codes1 = device.values<std::uint8_t>(device.m_codes);
      const auto codes2 = device.values<std::uint8_t>(device.v_codes);
      QCOMPARE(codes_that_differ(codes1, run.at("state1", step).integers(), absmax1), 0);
      QCOMPARE(codes_that_differ(codes2, run.at("state2", step).integers(), absmax2), 0);
      QVERIFY(relative_excess(device.values<float>(device.m_absmax), absmax1) <= 0);
      QVERIFY(relative_excess(device.values<float>(device.v_absmax), absmax2) <= 0);
      const auto parameters = device.values<float>(device.parameters);
      QVERIFY2(excess(parameters, run.at("parameters", step).floats(), start) <= 0,
               qPrintable(QString::number(step)));
    }
  }

  void small_tensors_keep_f32_states_and_decay_last() {
    const Run run{golden::read_tensors("adamw_8bit/trajectories.safetensors"), "small"};
    const auto meta = golden::read_json("adamw_8bit/meta.json");
    const auto backend = make_backend({.device = "cpu", .threads = 1});
    const std::vector<float> start = run.at("start").floats();
    Device device(*backend, start);
    Tensor m = backend->allocate({device.count}, DType::f32),
           v = backend->allocate({device.count}, DType::f32);
    backend->fill_zero(m);
    backend->fill_zero(v);
    for (int step = 1; step <= run.steps; ++step) {
      const std::vector<float> g = run.at("gradient", (step - 1) % run.gradients).floats();
      AdamStep s = numbers(meta, step);
      s.decay_last = true;
      backend->upload(device.gradient, g.data());
      backend->adamw(device.parameters, device.gradient, m, v, s);
      if (step != 1 && step != 2 && step != 10) continue;
      QVERIFY(golden::relative_difference(device.values<float>(m), run.at("state1", step).floats()) <= 1e-6);
      QVERIFY(golden::relative_difference(device.values<float>(v), run.at("state2", step).floats()) <= 2e-5);
      QVERIFY(excess(device.values<float>(device.parameters), run.at("parameters", step).floats(), start) <=
              0);
    }
  }

  void a_gradient_that_is_not_finite_leaves_its_parameter_alone() {
    const Run run{golden::read_tensors("adamw_8bit/trajectories.safetensors"), "not_finite", 2, 2};
    const auto meta = golden::read_json("adamw_8bit/meta.json");
    const auto backend = make_backend({.device = "cpu", .threads = 1});
    Device device(*backend, run.at("start").floats());
    device.step(run.at("gradient", 0).floats(), numbers(meta, 1));
    const auto before = device.values<float>(device.parameters);
    const auto gradient = run.at("gradient", 1).floats();
    device.step(gradient, numbers(meta, 2));
    const auto after = device.values<float>(device.parameters);
    for (std::size_t i = 0; i < gradient.size(); ++i)
      QCOMPARE(after[i] == before[i], !std::isfinite(gradient[i]));
  }
};

QTEST_GUILESS_MAIN(TestGoldenOptimizer)
#include "test_golden_optimizer.moc"
