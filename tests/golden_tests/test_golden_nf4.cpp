// SPDX-License-Identifier: Apache-2.0
// NF4 against bitsandbytes: the rules of equality of the design (tests/golden/README.md says what may
// differ).
#include <QtTest>
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/backend.h"
#include "kernels/base/error.h"
#include "tests/support/golden.h"

using namespace lorikeet;

namespace {

constexpr std::int64_t block = 64;
constexpr std::int64_t nested_block = 256;

/// One golden case and the weight made of it.
struct Case {
  Case(const QString& name, WeightFormat format) : prefix(name.toStdString() + ".") {
    tensors = golden::read_tensors("bnb/nf4.safetensors");
    values = at("weight").floats();
    const auto& shape = at("weight").shape;
    const ElementReader read = [this](std::int64_t first, std::span<float> out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = values.at(static_cast<std::size_t>(first) + i);
    };
    backend = make_backend({.device = "cpu", .threads = 2});
    weight = make_weight(*backend, format, shape[0], shape[1], read, prefix);
  }

  const golden::GoldenTensor& at(const std::string& part) const { return tensors.at(prefix + part); }

  template <typename T>
  std::vector<T> host(const Tensor& tensor) const {
    std::vector<T> copy(static_cast<std::size_t>(tensor.view().elements()));
    backend->download(copy.data(), tensor);
    return copy;
  }

  /// The dequantised weight (N,K): products with the rows of a unit matrix, which are exact.
  std::vector<float> dequantised() const {
    const std::int64_t n = weight.out, k = weight.in;
    std::vector<float> unit(static_cast<std::size_t>(k * k));
    for (std::int64_t i = 0; i < k; ++i) unit[static_cast<std::size_t>(i * k + i)] = 1;
    Tensor x = backend->allocate({k, k}, DType::f32);
    Tensor y = backend->allocate({k, n}, DType::f32);
    backend->upload(x, unit.data());
    backend->linear_forward(x, weight, {}, y, Write::overwrite);
    const std::vector<float> transposed = host<float>(y);
    std::vector<float> result(transposed.size());
    for (std::int64_t row = 0; row < n; ++row)
      for (std::int64_t column = 0; column < k; ++column)
        result[static_cast<std::size_t>(row * k + column)] =
            transposed[static_cast<std::size_t>(column * n + row)];
    return result;
  }

  std::string prefix;
  std::map<std::string, golden::GoldenTensor> tensors;
  std::vector<float> values;
  std::unique_ptr<Backend> backend;
  Weight weight;
};

bool is_zero_block(const std::vector<float>& values, std::size_t index) {
  const std::size_t first = index * block;
  for (std::size_t i = first; i < std::min(values.size(), first + block); ++i)
    if (values[i] != 0) return false;
  return true;
}

int nibble(const std::vector<std::int32_t>& packed, std::size_t i) {
  return i % 2 == 0 ? packed[i / 2] >> 4 : packed[i / 2] & 15;
}

double ulp(float value) {
  return static_cast<double>(std::nextafter(std::fabs(value), std::numeric_limits<float>::max())) -
         std::fabs(static_cast<double>(value));
}

}  // namespace

class TestGoldenNf4 : public QObject {
  Q_OBJECT

 private:
  static void add_cases() {
    QTest::addColumn<QString>("name");
    const auto all = golden::read_json("bnb/meta.json");
    for (const auto& [name, facts] : all.at("cases").items())
      QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }

  /// Codes are equal but for all-zero blocks, where every code gives 0.
  static void compare_codes(const Case& c) {
    const auto expected = c.at("packed").integers();
    const auto got = c.host<std::uint8_t>(c.weight.values);
    QCOMPARE(got.size(), expected.size());
    const std::vector<std::int32_t> got_wide(got.begin(), got.end());
    for (std::size_t i = 0; i < c.values.size(); ++i)
      if (!is_zero_block(c.values, i / block)) QCOMPARE(nibble(got_wide, i), nibble(expected, i));
  }

 private slots:
  void codes_and_absmax_are_those_of_bitsandbytes_data() {
    add_cases();
    QTest::newRow("on and beside every threshold") << "thresholds";
  }

  void codes_and_absmax_are_those_of_bitsandbytes() {
    QFETCH(QString, name);
    const Case c(name, WeightFormat::nf4_single);
    compare_codes(c);
    const auto expected = c.at("absmax").floats();
    const auto got = c.host<float>(c.weight.absmax);
    QCOMPARE(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      if (!is_zero_block(c.values, i)) QVERIFY(got[i] == expected[i]);
  }

  void absmax_is_quantised_as_bitsandbytes_does_data() { add_cases(); }
  void absmax_is_quantised_as_bitsandbytes_does() {
    QFETCH(QString, name);
    const Case c(name, WeightFormat::nf4);
    compare_codes(c);
    const float offset = c.at("nested.offset").floats().at(0);
    const double slack = 4 * ulp(offset);
    QVERIFY(std::fabs(static_cast<double>(c.weight.nested_offset) - static_cast<double>(offset)) <= slack);
    const auto largest = c.at("nested.absmax_of_absmax").floats();
    const auto got_largest = c.host<float>(c.weight.nested_absmax);
    QVERIFY(golden::largest_difference(got_largest, largest) <= slack);
    const auto expected = c.at("nested.absmax").integers();
    const auto got = c.host<std::uint8_t>(c.weight.absmax);
    QCOMPARE(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      if (largest.at(i / nested_block) > 0) QCOMPARE(static_cast<int>(got[i]), expected[i]);
  }

  void f32_weights_come_back_exactly_data() {
    QTest::addColumn<QString>("name");
    const auto all = golden::read_json("bnb/meta.json");
    for (const auto& [name, facts] : all.at("cases").items())
      if (facts.at("dtype") == "float32") QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }

  void f32_weights_come_back_exactly() {
    QFETCH(QString, name);
    const Case c(name, WeightFormat::nf4_single);
    const auto expected = c.at("dequantised").floats();
    QCOMPARE(golden::largest_difference(c.dequantised(), expected), 0.0);
  }

  void double_quantised_weights_come_back_data() { add_cases(); }
  void double_quantised_weights_come_back() {
    QFETCH(QString, name);
    const Case c(name, WeightFormat::nf4);
    const auto expected = c.at("nested.dequantised").floats();
    const double offset_slack = 8 * ulp(c.at("nested.offset").floats().at(0));
    const double rounding = c.at("weight").dtype == "F32"   ? 0
                            : c.at("weight").dtype == "F16" ? 0x1p-11
                                                            : 0x1p-8;
    const auto got = c.dequantised();
    QCOMPARE(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double off = std::fabs(static_cast<double>(got[i]) - static_cast<double>(expected[i]));
      QVERIFY(off <= offset_slack + (rounding + 1e-6) * std::fabs(static_cast<double>(expected[i])));
    }
  }

  void a_weight_that_is_not_finite_is_refused_by_name() {
    const auto backend = make_backend({.device = "cpu", .threads = 1});
    const ElementReader read = [](std::int64_t, std::span<float> out) {
      std::fill(out.begin(), out.end(), std::numeric_limits<float>::quiet_NaN());
    };
    try {
      make_weight(*backend, WeightFormat::nf4, 4, 4, read, "model.layers.0.mlp.up_proj.weight");
      QFAIL("a NaN was quantised");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::numeric);
      QVERIFY(QByteArray(error.what()).contains("up_proj"));
    }
  }
};

QTEST_GUILESS_MAIN(TestGoldenNf4)
#include "test_golden_nf4.moc"
