// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "kernels/dynamic_map.h"
#include "tests/kernels/kernel_test.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

using Tensors = std::map<std::string, golden::GoldenTensor>;

Values values_of(const golden::GoldenTensor& tensor) {
  if (tensor.dtype == "F32") {
    const std::vector<float> floats = tensor.floats();
    return Values(floats.begin(), floats.end());
  }
  const std::vector<std::int32_t> integers = tensor.integers();
  return Values(integers.begin(), integers.end());
}

AdamStep golden_step(int step) {
  const auto meta = golden::read_json("adamw_8bit/meta.json");
  AdamStep numbers;
  numbers.learning_rate = meta["learning_rates"][static_cast<std::size_t>(step - 1)].get<float>();
  numbers.weight_decay = meta["weight_decay"].get<float>();
  numbers.step = step;
  return numbers;
}

bool is_saved(int step) {
  return step == 1 || step == 2 || step == 10;
}

}  // namespace

class TestOptimizerGolden : public KernelTest {
  Q_OBJECT

  /// |got - golden| <= 1e-7 + 1e-5 |golden - start|.
  static void compare_parameters(const Values& got, const Values& want, const Values& start) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double allowed = 1e-7 + 1e-5 * std::fabs(want[i] - start[i]);
      QVERIFY2(std::fabs(got[i] - want[i]) <= allowed, qPrintable(QString("parameter %1").arg(i)));
    }
  }

  /// Codes are equal but where the block's absmax is 0.
  static void compare_codes(const Values& got, const Values& want, const Values& absmax) {
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (absmax[i / 256] > 0) QVERIFY2(got[i] == want[i], qPrintable(QString("code %1").arg(i)));
    }
  }

 private slots:
  void the_maps_equal_bitsandbytes_bit_for_bit() {
    const Tensors tensors = golden::read_tensors("bnb/maps.safetensors");
    const auto as_values = [](const DynamicMap& map) { return Values(map.begin(), map.end()); };
    QCOMPARE(as_values(signed_dynamic_map()), values_of(tensors.at("signed")));
    QCOMPARE(as_values(unsigned_dynamic_map()), values_of(tensors.at("unsigned")));
    QCOMPARE(signed_dynamic_map()[127], 0.0f);
    QCOMPARE(unsigned_dynamic_map()[0], 0.0f);
  }

  void values_find_the_codes_bitsandbytes_gives_them() {
    const Tensors tensors = golden::read_tensors("bnb/maps.safetensors");
    for (const std::string name : {"signed", "unsigned"}) {
      const DynamicMap& map = name == "signed" ? signed_dynamic_map() : unsigned_dynamic_map();
      const std::vector<float> values = tensors.at(name + ".values").floats();
      const std::vector<float> absmax = tensors.at(name + ".absmax").floats();
      const std::vector<std::int32_t> codes = tensors.at(name + ".codes").integers();
      for (std::size_t i = 0; i < values.size(); ++i) {
        QCOMPARE(static_cast<std::int32_t>(nearest_in_map(map, values[i] / absmax[i / 256])), codes[i]);
      }
    }
  }

  void adamw_8bit_follows_bitsandbytes_trajectories_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"whole_blocks", "short_last_block", "not_finite"})
      QTest::newRow(name) << QString(name);
  }
  void adamw_8bit_follows_bitsandbytes_trajectories() {
    QFETCH(QString, name);
    const Tensors tensors = golden::read_tensors("adamw_8bit/trajectories.safetensors");
    const auto values = [&](const std::string& part) {
      return values_of(tensors.at(name.toStdString() + "." + part));
    };
    const Values start = values("start");
    const auto count = static_cast<std::int64_t>(start.size());
    const std::int64_t blocks = (count + 255) / 256;
    const int gradients = name == "not_finite" ? 2 : 4;
    const auto backend = test_backend(2);
    const Tensor p = make_tensor(*backend, {count}, DType::f32, start);
    const Tensor mc = make_tensor(*backend, {count}, DType::u8, Values(start.size(), 0.0));
    const Tensor vc = make_tensor(*backend, {count}, DType::u8, Values(start.size(), 0.0));
    const Tensor ma =
        make_tensor(*backend, {blocks}, DType::f32, Values(static_cast<std::size_t>(blocks), 0.0));
    const Tensor va =
        make_tensor(*backend, {blocks}, DType::f32, Values(static_cast<std::size_t>(blocks), 0.0));
    for (int step = 1; step <= (gradients == 2 ? 2 : 10); ++step) {
      const Values gradient = values("gradient_" + std::to_string((step - 1) % gradients));
      backend->adamw_8bit(p, make_tensor(*backend, {count}, DType::f32, gradient), {mc, vc, ma, va},
                          golden_step(step));
      if (!is_saved(step)) continue;
      const std::string at = "_" + std::to_string(step);
      compare_parameters(read_back(*backend, p), values("parameters" + at), start);
      compare(read_back(*backend, ma), values("absmax1" + at), {1e-30, 2e-5, 0}, "absmax1");
      compare(read_back(*backend, va), values("absmax2" + at), {1e-30, 2e-5, 0}, "absmax2");
      compare_codes(read_back(*backend, mc), values("state1" + at), values("absmax1" + at));
      compare_codes(read_back(*backend, vc), values("state2" + at), values("absmax2" + at));
    }
  }

  void small_tensors_follow_the_32_bit_trajectory() {
    const Tensors tensors = golden::read_tensors("adamw_8bit/trajectories.safetensors");
    const auto values = [&](const std::string& part) { return values_of(tensors.at("small." + part)); };
    const Values start = values("start");
    const auto count = static_cast<std::int64_t>(start.size());
    const auto backend = test_backend(2);
    const Tensor p = make_tensor(*backend, {count}, DType::f32, start);
    const Tensor m = make_tensor(*backend, {count}, DType::f32, Values(start.size(), 0.0));
    const Tensor v = make_tensor(*backend, {count}, DType::f32, Values(start.size(), 0.0));
    for (int step = 1; step <= 10; ++step) {
      AdamStep numbers = golden_step(step);
      numbers.decay_last = true;
      const Values gradient = values("gradient_" + std::to_string((step - 1) % 4));
      backend->adamw(p, make_tensor(*backend, {count}, DType::f32, gradient), m, v, numbers);
      if (!is_saved(step)) continue;
      const std::string at = "_" + std::to_string(step);
      compare_parameters(read_back(*backend, p), values("parameters" + at), start);
      compare(read_back(*backend, m), values("state1" + at), {1e-12, 2e-5, 0}, "m");
      compare(read_back(*backend, v), values("state2" + at), {1e-20, 2e-5, 0}, "v");
    }
  }
};

QTEST_GUILESS_MAIN(TestOptimizerGolden)
#include "test_optimizer_golden.moc"
