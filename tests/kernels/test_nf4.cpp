// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>

#include "kernels/dynamic_map.h"
#include "kernels/fp4.h"
#include "kernels/int8.h"
#include "kernels/nf4.h"
#include "kernels/weight.h"
#include "tests/kernels/op_support.h"
#include "tests/support/golden.h"

using namespace lorikeet;
using golden::GoldenTensor;

namespace {

using GoldenFile = std::map<std::string, GoldenTensor>;

const GoldenFile& nf4_file() {
  static const GoldenFile file = golden::read_tensors("bnb/nf4.safetensors");
  return file;
}

std::vector<std::uint8_t> bytes_of(const GoldenTensor& tensor) {
  std::vector<std::uint8_t> bytes(tensor.bytes.size());
  std::memcpy(bytes.data(), tensor.bytes.data(), bytes.size());
  return bytes;
}

/// The codes of elements, two a byte.
int code_at(const std::vector<std::uint8_t>& packed, std::size_t element) {
  return element % 2 == 0 ? packed[element / 2] >> 4 : packed[element / 2] & 15;
}

/// Distance in units in the last place.
std::int64_t ulps(float a, float b) {
  std::int32_t x = 0;
  std::int32_t y = 0;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  if (x < 0) x = std::numeric_limits<std::int32_t>::min() - x;
  if (y < 0) y = std::numeric_limits<std::int32_t>::min() - y;
  return std::abs(std::int64_t{x} - std::int64_t{y});
}

ElementReader reader_of(const std::vector<float>& values) {
  return [&values](std::int64_t first, std::span<float> out) {
    std::memcpy(out.data(), values.data() + first, out.size() * sizeof(float));
  };
}

std::vector<float> host_floats(Backend& backend, const TensorView& view) {
  std::vector<float> values(static_cast<std::size_t>(view.elements()));
  backend.download(values.data(), view);
  return values;
}

/// NF4 and back by its definition alone, with blocks of any size: the nearest code, the lower one on ties.
std::vector<float> plain_round_trip(const std::vector<float>& values, std::size_t block) {
  std::vector<float> back;
  for (std::size_t first = 0; first < values.size(); first += block) {
    float absmax = 0;
    for (std::size_t i = first; i < first + block; ++i) absmax = std::max(absmax, std::fabs(values[i]));
    for (std::size_t i = first; i < first + block; ++i) {
      const auto nearest = std::min_element(nf4_code.begin(), nf4_code.end(), [&](float a, float b) {
        return std::fabs(a - values[i] / absmax) < std::fabs(b - values[i] / absmax);
      });
      back.push_back(*nearest * absmax);
    }
  }
  return back;
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
  return std::sqrt(sum);
}

}  // namespace

class TestNf4 : public QObject {
  Q_OBJECT

 private slots:
  void the_code_is_bitsandbytes_code() {
    const std::vector<float> code = nf4_file().at("code").floats();
    QCOMPARE(code, std::vector<float>(nf4_code.begin(), nf4_code.end()));
  }

  void codes_and_absmax_equal_bitsandbytes_data() {
    QTest::addColumn<QString>("name");
    for (const auto& [key, value] : golden::read_json("bnb/meta.json").at("cases").items()) {
      QTest::newRow(key.c_str()) << QString::fromStdString(key);
    }
    QTest::newRow("thresholds") << QStringLiteral("thresholds");
  }
  void codes_and_absmax_equal_bitsandbytes() {
    QFETCH(QString, name);
    const std::string key = name.toStdString();
    const std::vector<float> values = nf4_file().at(key + ".weight").floats();
    const std::vector<std::uint8_t> want = bytes_of(nf4_file().at(key + ".packed"));
    std::vector<std::uint8_t> packed(want.size(), 0xee);
    std::vector<float> absmax(static_cast<std::size_t>(nf4_blocks(static_cast<std::int64_t>(values.size()))),
                              -1.0f);
    nf4_quantize(values, packed.data(), absmax.data());
    QCOMPARE(absmax, nf4_file().at(key + ".absmax").floats());
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (absmax[i / 64] == 0) continue;  // the back ends of bitsandbytes differ there
      if (code_at(packed, i) != code_at(want, i)) QFAIL(qPrintable(QString("code of element %1").arg(i)));
    }
    std::vector<float> back(values.size());
    nf4_dequantize(packed.data(), absmax.data(), 0, back);
    if (nf4_file().at(key + ".weight").dtype != "F32") return;  // rounded to the stored type there
    QCOMPARE(back, nf4_file().at(key + ".dequantised").floats());
  }

  void n19_the_error_grows_smoothly_with_the_block_and_64_is_the_plain_reference() {
    constexpr std::int64_t count = 512 * 512;
    std::vector<float> values;
    for (const double v : testing::random_values(count, 19, 0.02)) values.push_back(static_cast<float>(v));
    double before = 0;
    for (std::size_t block = 64; block <= 4096; block *= 2) {
      const double error = distance(plain_round_trip(values, block), values);
      // Normal values: the absmax of a block grows with the root of the logarithm of its size.
      if (before > 0)
        QVERIFY2(error > before && error < 1.15 * before, qPrintable(QString::number(error / before)));
      before = error;
    }
    std::vector<std::uint8_t> packed(count / 2);
    std::vector<float> absmax(count / 64), back(count);
    nf4_quantize(values, packed.data(), absmax.data());
    nf4_dequantize(packed.data(), absmax.data(), 0, back);
    // As near as the nearest code; between two that are equally near, either will do.
    const std::vector<float> plain = plain_round_trip(values, 64);
    for (std::size_t i = 0; i < back.size(); ++i)
      QVERIFY(std::fabs(back[i] - values[i]) <= std::fabs(plain[i] - values[i]) + 1e-7f);
  }

  void n20_the_last_block_takes_its_scale_from_its_own_elements() {
    std::vector<float> values(65, 0.001f);
    values[64] = -0.25f;
    std::vector<std::uint8_t> first;
    for (int trial = 0; trial < 100; ++trial) {
      std::vector<std::uint8_t> packed(33, static_cast<std::uint8_t>(trial * 37));
      std::vector<float> absmax(2, trial % 2 == 0 ? 1e30f : std::nanf(""));
      nf4_quantize(values, packed.data(), absmax.data());
      QCOMPARE(absmax, (std::vector<float>{0.001f, 0.25f}));
      if (trial == 0) first = packed;
      QCOMPARE(packed, first);
      std::vector<float> back(65);
      nf4_dequantize(packed.data(), absmax.data(), 0, back);
      QCOMPARE(back, values);
    }
  }

  void n22_a_round_trip_gives_the_reference_table() {
    // Blocks are 64 and nothing else: a larger one cannot be asked for, so no other type can take its place.
    std::vector<float> values(4096);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = nf4_code[i % 16] * 3.0f;
    std::vector<std::uint8_t> packed(values.size() / 2);
    std::vector<float> absmax(values.size() / 64), back(values.size());
    nf4_quantize(values, packed.data(), absmax.data());
    nf4_dequantize(packed.data(), absmax.data(), 0, back);
    QCOMPARE(back, values);
    for (std::size_t i = 0; i < values.size(); ++i) QCOMPARE(code_at(packed, i), static_cast<int>(i % 16));
  }

  void n23_a_single_row_and_a_single_column_keep_their_shape() {
    const auto backend = testing::test_backend(1);
    std::vector<float> values;
    for (const double v : testing::random_values(65, 23, 0.02)) values.push_back(static_cast<float>(v));
    const Weight row = make_weight(*backend, WeightFormat::nf4_single, 1, 65, reader_of(values), "row");
    const Weight column = make_weight(*backend, WeightFormat::nf4_single, 65, 1, reader_of(values), "column");
    QVERIFY(row.out == 1 && row.in == 65 && column.out == 65 && column.in == 1);
    QCOMPARE(testing::read_bytes(*backend, row.values), testing::read_bytes(*backend, column.values));
    QCOMPARE(host_floats(*backend, row.absmax), host_floats(*backend, column.absmax));
  }

  void fp4_codes_and_values_equal_bitsandbytes_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"across_rows", "odd_count", "outliers", "f16", "bf16"})
      QTest::newRow(name) << QString(name);
  }
  void fp4_codes_and_values_equal_bitsandbytes() {
    QFETCH(QString, name);
    const std::string key = name.toStdString();
    const GoldenFile file = golden::read_tensors("bnb/fp4.safetensors");
    QCOMPARE(std::vector<float>(fp4_code.begin(), fp4_code.end()), file.at("code").floats());
    const std::vector<float> values = nf4_file().at(key + ".weight").floats();
    const std::vector<std::uint8_t> want = bytes_of(file.at(key + ".packed"));
    std::vector<std::uint8_t> packed(want.size(), 0xee);
    std::vector<float> absmax(static_cast<std::size_t>(nf4_blocks(static_cast<std::int64_t>(values.size()))),
                              -1.0f);
    fp4_quantize(values, packed.data(), absmax.data());
    QCOMPARE(absmax, file.at(key + ".absmax").floats());
    QCOMPARE(packed, want);
    std::vector<float> back(values.size());
    fp4_dequantize(packed.data(), absmax.data(), 0, back);
    if (nf4_file().at(key + ".weight").dtype == "F32") QCOMPARE(back, file.at(key + ".dequantised").floats());
  }

  void int8_codes_equal_bitsandbytes_data() {
    QTest::addColumn<QString>("name");
    for (const char* name : {"f16", "outliers_f16"}) QTest::newRow(name) << QString(name);
  }
  void int8_codes_equal_bitsandbytes() {
    QFETCH(QString, name);
    const std::string key = name.toStdString();
    const GoldenFile file = golden::read_tensors("bnb/int8.safetensors");
    const std::vector<float> values = file.at(key + ".weight").floats();
    const std::vector<std::int32_t> want = file.at(key + ".codes").integers();
    const std::vector<float> want_absmax = file.at(key + ".row_absmax").floats();
    const std::size_t width = values.size() / want_absmax.size();
    std::vector<std::int8_t> codes(width);
    for (std::size_t row = 0; row < want_absmax.size(); ++row) {
      const float absmax = int8_quantize_row(std::span(values).subspan(row * width, width), codes.data());
      QCOMPARE(absmax, want_absmax[row]);
      for (std::size_t i = 0; i < width; ++i) QCOMPARE(std::int32_t{codes[i]}, want[row * width + i]);
    }
  }

  void int8_rows_of_zeros_and_tiny_values_are_stored() {
    std::vector<std::int8_t> codes(3, 9);
    QCOMPARE(int8_quantize_row(std::vector<float>{0, 0, 0}, codes.data()), 0.0f);
    QCOMPARE(codes, (std::vector<std::int8_t>{0, 0, 0}));
    QCOMPARE(int8_quantize_row(std::vector<float>{1e-40f, -1e-40f, 0}, codes.data()), 1e-40f);
    QCOMPARE(codes, (std::vector<std::int8_t>{127, -127, 0}));
  }

  void nested_absmax_equals_bitsandbytes_data() { codes_and_absmax_equal_bitsandbytes_data(); }
  void nested_absmax_equals_bitsandbytes() {
    QFETCH(QString, name);
    const std::string key = name.toStdString();
    if (nf4_file().count(key + ".nested.absmax") == 0) return;
    const std::vector<float> absmax = nf4_file().at(key + ".absmax").floats();
    const NestedAbsmax nested = nest_absmax(absmax);
    QVERIFY(ulps(nested.offset, nf4_file().at(key + ".nested.offset").floats().at(0)) <= 4);
    const auto want = bytes_of(nf4_file().at(key + ".nested.absmax"));
    if (absmax.size() > 1) QCOMPARE(nested.codes, want);
    const std::vector<float> want_largest = nf4_file().at(key + ".nested.absmax_of_absmax").floats();
    QCOMPARE(nested.nested_absmax.size(), want_largest.size());
    for (std::size_t i = 0; i < want_largest.size(); ++i) {
      QVERIFY(std::fabs(nested.nested_absmax[i] - want_largest[i]) <=
              8 * std::fabs(nested.offset) * 0x1p-23f);
    }
  }

  void weights_are_stored_as_their_format_says_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<qlonglong>("out");
    QTest::addColumn<qlonglong>("in");
    for (const WeightFormat format :
         {WeightFormat::f32, WeightFormat::bf16, WeightFormat::f16, WeightFormat::nf4,
          WeightFormat::nf4_single, WeightFormat::fp4, WeightFormat::fp4_single, WeightFormat::int8}) {
      for (const auto& [out, in] :
           {std::pair{33, 70}, std::pair{1, 1}, std::pair{5, 13}, std::pair{1100, 1000}}) {
        QTest::addRow("%s %dx%d", to_string(format), out, in)
            << static_cast<int>(format) << qlonglong{out} << qlonglong{in};
      }
    }
  }
  void weights_are_stored_as_their_format_says() {
    QFETCH(int, format);
    QFETCH(qlonglong, out);
    QFETCH(qlonglong, in);
    const auto kind = static_cast<WeightFormat>(format);
    const auto backend = testing::test_backend(2);
    std::vector<float> values;
    for (const double v : testing::random_values(out * in, 7, 0.02)) values.push_back(static_cast<float>(v));
    const Weight weight = make_weight(*backend, kind, out, in, reader_of(values), "w");
    QCOMPARE(weight.bytes(), weight_bytes(kind, out, in));
    QCOMPARE(backend->budget().used_bytes(), std::uint64_t{weight.bytes()});
    if (kind == WeightFormat::int8) {
      const std::vector<std::uint8_t> codes = testing::read_bytes(*backend, weight.values);
      const std::vector<float> absmax = host_floats(*backend, weight.absmax);
      std::vector<std::int8_t> row(static_cast<std::size_t>(in));
      for (std::size_t i = 0; i < absmax.size(); ++i) {
        QCOMPARE(absmax[i],
                 int8_quantize_row(std::span(values).subspan(i * row.size(), row.size()), row.data()));
        QVERIFY(std::memcmp(codes.data() + i * row.size(), row.data(), row.size()) == 0);
      }
      return;
    }
    if (is_four_bit(kind)) {
      std::vector<std::uint8_t> packed((values.size() + 1) / 2);
      std::vector<float> absmax(static_cast<std::size_t>(nf4_blocks(out * in)));
      const bool fp4 = kind == WeightFormat::fp4 || kind == WeightFormat::fp4_single;
      (fp4 ? fp4_quantize : nf4_quantize)(values, packed.data(), absmax.data());
      QCOMPARE(testing::read_bytes(*backend, weight.values), packed);
      if (!is_nested(kind)) QCOMPARE(host_floats(*backend, weight.absmax), absmax);
      if (is_nested(kind)) {
        const NestedAbsmax nested = nest_absmax(absmax);
        QCOMPARE(testing::read_bytes(*backend, weight.absmax), nested.codes);
        QCOMPARE(host_floats(*backend, weight.nested_absmax), nested.nested_absmax);
        QCOMPARE(weight.nested_offset, nested.offset);
      }
      return;
    }
    const DType stored = weight.values.dtype();
    testing::Values want(values.begin(), values.end());
    QCOMPARE(testing::read_back(*backend, weight.values), testing::rounded(want, stored));
  }

  void a_value_that_cannot_be_stored_is_refused_by_name_data() {
    QTest::addColumn<int>("format");
    QTest::addColumn<float>("value");
    const float infinity = std::numeric_limits<float>::infinity();
    const float nan = std::numeric_limits<float>::quiet_NaN();
    for (const WeightFormat format :
         {WeightFormat::f32, WeightFormat::bf16, WeightFormat::f16, WeightFormat::nf4,
          WeightFormat::nf4_single, WeightFormat::fp4, WeightFormat::fp4_single, WeightFormat::int8}) {
      for (const float value : {infinity, -infinity, nan}) {
        QTest::addRow("%s %g", to_string(format), static_cast<double>(value))
            << static_cast<int>(format) << value;
      }
    }
    QTest::newRow("f16 too large") << static_cast<int>(WeightFormat::f16) << 65520.0f;
    QTest::newRow("bf16 too large") << static_cast<int>(WeightFormat::bf16) << -3.4e38f;
  }
  void a_value_that_cannot_be_stored_is_refused_by_name() {
    QFETCH(int, format);
    QFETCH(float, value);
    const auto backend = testing::test_backend(2);
    std::vector<float> values(300 * 200, 0.5f);
    values[123 * 200 + 45] = value;
    try {
      make_weight(*backend, static_cast<WeightFormat>(format), 300, 200, reader_of(values),
                  "model.layers.3.up");
      QFAIL("accepted");
    } catch (const Error& error) {
      QCOMPARE(error.code(), ErrorCode::numeric);
      QCOMPARE(error.where(), std::string("model.layers.3.up, row 123, column 45"));
    }
    QCOMPARE(backend->budget().used_bytes(), std::uint64_t{0});
  }

  void the_largest_storable_values_are_accepted() {
    const auto backend = testing::test_backend(1);
    const std::vector<float> half = {65519.0f, -65519.0f};
    const Weight f16 = make_weight(*backend, WeightFormat::f16, 1, 2, reader_of(half), "w");
    QCOMPARE(testing::read_back(*backend, f16.values), (testing::Values{65504, -65504}));
    const std::vector<float> tiny = {std::numeric_limits<float>::denorm_min(), -1e-40f, 0.0f, 1e-41f};
    const Weight nf4 = make_weight(*backend, WeightFormat::nf4_single, 2, 2, reader_of(tiny), "w");
    QCOMPARE(host_floats(*backend, nf4.absmax), std::vector<float>{1e-40f});
    QCOMPARE(testing::read_bytes(*backend, nf4.values)[0], std::uint8_t{0x70});
  }

  void impossible_shapes_are_refused() {
    for (const auto& [out, in] : {std::pair<std::int64_t, std::int64_t>{0, 4},
                                  {4, -1},
                                  {std::int64_t{1} << 40, std::int64_t{1} << 40}}) {
      QVERIFY(
          testing::throws([&] { weight_bytes(WeightFormat::nf4, out, in); }, ErrorCode::invalid_argument));
    }
  }
};

QTEST_GUILESS_MAIN(TestNf4)
#include "test_nf4.moc"
