// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Case {
  DType compute = DType::f32;
  WeightFormat format = WeightFormat::f32;
  std::int64_t rows = 0, vocabulary = 0, width = 0;
  double soft_cap = 0;
  bool bias = false;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> all;
    for (const DType compute : compute_types()) {
      for (const WeightFormat format : {WeightFormat::f32, WeightFormat::bf16, WeightFormat::f16,
                                        WeightFormat::nf4, WeightFormat::fp4, WeightFormat::int8}) {
        all.push_back({compute, format, 1, 100, 64});
        all.push_back({compute, format, 7, 333, 70});
        all.push_back({compute, format, 75, 1027, 128});
        all.push_back({compute, format, 3, 1, 5});
        all.push_back({compute, format, 2, 90, 64, 5, true});
      }
      all.push_back({compute, WeightFormat::bf16, 9, 517, 24, 0, true});
      all.push_back({compute, WeightFormat::bf16, 21, 300, 33, 3});
      all.push_back({compute, WeightFormat::bf16, 2, 151936, 8});  // a wide vocabulary
    }
    return all;
  }();
  return list;
}

void add_rows() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < cases().size(); ++i) {
    const Case& c = cases()[i];
    QTest::addRow("%s %s %dx%dx%d cap %g%s", to_string(c.compute), to_string(c.format),
                  static_cast<int>(c.rows), static_cast<int>(c.vocabulary), static_cast<int>(c.width),
                  c.soft_cap, c.bias ? " bias" : "")
        << static_cast<int>(i);
  }
}

}  // namespace

class TestHead : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    std::string why;
    if (isa_is_missing(why)) QSKIP(why.c_str());
  }

  void loss_and_gradient_equal_the_reference_data() { add_rows(); }
  void loss_and_gradient_equal_the_reference() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    const Weight head = random_weight(*backend, c.format, c.vocabulary, c.width, 3, c.bias);
    const Values bias = c.bias ? read_back(*backend, head.bias) : Values{};
    const auto cap = static_cast<float>(c.soft_cap);
    const Values h = rounded(random_values(c.rows * c.width, 5, 3), c.compute);
    const Indices targets = random_indices(c.rows, c.vocabulary, 6);
    const Tensor ht = make_tensor(*backend, {c.rows, c.width}, c.compute, h);
    const Tensor tt = make_indices(*backend, targets);
    const Tensor sums = make_tensor(*backend, {2}, DType::f64, {10, 20});
    const Tensor dh = make_poisoned(*backend, {c.rows, c.width}, c.compute);
    backend->head_cross_entropy(ht, head, tt, 0.25f, sums, dh, cap);
    const auto want = reference::head_cross_entropy(h, values_of(*backend, head, c.compute), targets, 0.25,
                                                    c.width, c.soft_cap, bias);
    const Values got = read_back(*backend, sums);
    QVERIFY2(std::fabs(got[0] - 10 - want.loss) <= 2e-6 * (1 + want.loss),
             qPrintable(QString::number(got[0] - 10 - want.loss)));
    QCOMPARE(got[1], 20 + want.correct);
    Tolerance tolerance = tolerance_for(c.compute, c.vocabulary);
    if (c.compute == DType::bf16) tolerance.scaled += 0x1p-9;
    if (c.compute == DType::f16) tolerance.scaled += 0x1p-12;
    QCOMPARE(difference(read_back(*backend, dh), want.dh, tolerance), std::string());

    // without dh the sums are the same to the last bit
    const Tensor again = make_tensor(*backend, {2}, DType::f64, {10, 20});
    backend->head_cross_entropy(ht, head, tt, 0.25f, again, {}, cap);
    QCOMPARE(read_back(*backend, again), got);
  }

  void reference_gradient_is_the_slope_of_the_loss() {
    const Values head = random_values(11 * 6, 1);
    const Values h = random_values(3 * 6, 2);
    const Indices targets = {4, 0, 10};
    const auto loss = [&](const Values& v) {
      return 0.5 * reference::head_cross_entropy(v, head, targets, 0.5, 6).loss;
    };
    QCOMPARE(difference(reference::head_cross_entropy(h, head, targets, 0.5, 6).dh,
                        central_differences(loss, h), {1e-8, 1e-6, 0}),
             std::string());
    const Values bias = random_values(11, 3);
    const auto capped_loss = [&](const Values& v) {
      return 0.5 * reference::head_cross_entropy(v, head, targets, 0.5, 6, 1.5, bias).loss;
    };
    QCOMPARE(difference(reference::head_cross_entropy(h, head, targets, 0.5, 6, 1.5, bias).dh,
                        central_differences(capped_loss, h), {1e-8, 1e-6, 0}),
             std::string());
  }

  void gradient_is_the_slope_of_the_loss_itself() {
    const auto backend = test_backend(2);
    const Weight head = random_weight(*backend, WeightFormat::f32, 300, 24, 1);
    const Values h = random_values(2 * 24, 2, 2);
    const Tensor targets = make_indices(*backend, {7, 299});
    const Tensor dh = make_poisoned(*backend, {2, 24}, DType::f32);
    const auto loss = [&](const Values& v) {
      const Tensor at = make_tensor(*backend, {2, 24}, DType::f32, v);
      const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
      backend->head_cross_entropy(at, head, targets, 1, sums, dh);
      return read_back(*backend, sums)[0];
    };
    loss(h);
    const Values got = read_back(*backend, dh);
    QCOMPARE(difference(got, central_differences(loss, h, 0.01), {1e-4, 2e-3, 2e-3}), std::string());
  }

  void the_first_of_equal_logits_is_the_answer() {
    const auto backend = test_backend(2);
    const Tensor values = make_tensor(*backend, {400, 2}, DType::f32, Values(800, 1.0));
    const auto ones = [](std::int64_t, std::span<float> out) {
      for (float& value : out) value = 1;
    };
    const Weight head = make_weight(*backend, WeightFormat::f32, 400, 2, ones, "head");
    const Tensor h = make_tensor(*backend, {3, 2}, DType::f32, Values(6, 1.0));
    const Tensor targets = make_indices(*backend, {0, 1, 399});
    const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
    backend->head_cross_entropy(h, head, targets, 1, sums, {});
    const Values got = read_back(*backend, sums);
    QCOMPARE(got[1], 1.0);
    QVERIFY(std::fabs(got[0] - 3 * std::log(400.0)) < 1e-5);
  }

  void extreme_logits_stay_finite_and_broken_ones_show() {
    const auto backend = test_backend(2);
    const auto read = [](std::int64_t first, std::span<float> out) {
      for (std::size_t i = 0; i < out.size(); ++i)
        out[i] = (static_cast<std::int64_t>(i) + first) % 2 == 0 ? 1.0f : -1.0f;
    };
    const Weight head = make_weight(*backend, WeightFormat::f32, 150, 1, read, "head");
    const Tensor targets = make_indices(*backend, {1});
    const Tensor dh = make_poisoned(*backend, {1, 1}, DType::f32);
    const auto loss = [&](double h) {
      const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
      backend->head_cross_entropy(make_tensor(*backend, {1, 1}, DType::f32, {h}), head, targets, 1, sums, dh);
      return read_back(*backend, sums)[0];
    };
    QVERIFY(std::fabs(loss(1e4) - (2e4 + std::log(75.0))) < 1e-2);
    QVERIFY(std::isfinite(read_back(*backend, dh)[0]));
    QVERIFY(std::isnan(loss(std::numeric_limits<double>::quiet_NaN())));
  }

  void logits_equal_the_reference_data() { add_rows(); }
  void logits_equal_the_reference() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    const Weight head = random_weight(*backend, c.format, c.vocabulary, c.width, 3, c.bias);
    const Values bias = c.bias ? read_back(*backend, head.bias) : Values{};
    const Values h = rounded(random_values(c.rows * c.width, 5), c.compute);
    const Tensor ht = make_tensor(*backend, {c.rows, c.width}, c.compute, h);
    const Tensor logits = make_poisoned(*backend, {c.rows, c.vocabulary}, DType::f32);
    backend->head_logits(ht, head, logits, static_cast<float>(c.soft_cap));
    QCOMPARE(
        difference(read_back(*backend, logits),
                   reference::head_logits(h, values_of(*backend, head, c.compute), c.width, c.soft_cap, bias),
                   tolerance_for(DType::f32, c.width)),
        std::string());
  }

  void results_do_not_depend_on_the_team_data() { add_rows(); }
  void results_do_not_depend_on_the_team() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto work = [&c](Backend& backend) {
      const Weight head = random_weight(backend, c.format, c.vocabulary, c.width, 3);
      const Tensor h = make_tensor(backend, {c.rows, c.width}, c.compute, random_values(c.rows * c.width, 5));
      const Tensor targets = make_indices(backend, random_indices(c.rows, c.vocabulary, 6));
      const Tensor sums = make_tensor(backend, {2}, DType::f64, {0, 0});
      const Tensor dh = make_poisoned(backend, {c.rows, c.width}, c.compute);
      backend.head_cross_entropy(h, head, targets, 0.5f, sums, dh, static_cast<float>(c.soft_cap));
      std::vector<std::uint8_t> bytes = read_bytes(backend, sums);
      const std::vector<std::uint8_t> more = read_bytes(backend, dh);
      bytes.insert(bytes.end(), more.begin(), more.end());
      return bytes;
    };
    std::string complaint;
    same_with_any_threads(work, complaint);
    QCOMPARE(complaint, std::string());
  }

  void many_rows_of_a_wide_vocabulary_go_in_chunks() {
    const Case c{DType::f32, WeightFormat::nf4, 84, 200001, 5};
    const auto backend = test_backend(2);
    const Weight head = random_weight(*backend, c.format, c.vocabulary, c.width, 3);
    const Values h = random_values(c.rows * c.width, 5, 3);
    const Indices targets = random_indices(c.rows, c.vocabulary, 6);
    const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
    const Tensor dh = make_poisoned(*backend, {c.rows, c.width}, c.compute);
    backend->head_cross_entropy(make_tensor(*backend, {c.rows, c.width}, c.compute, h), head,
                                make_indices(*backend, targets), 0.25f, sums, dh);
    const auto want =
        reference::head_cross_entropy(h, values_of(*backend, head, c.compute), targets, 0.25, c.width);
    QVERIFY(std::fabs(read_back(*backend, sums)[0] - want.loss) <= 2e-6 * (1 + want.loss));
    QCOMPARE(difference(read_back(*backend, dh), want.dh, tolerance_for(c.compute, c.vocabulary)),
             std::string());
  }

  void a_target_outside_the_vocabulary_spoils_its_own_row_only() {
    const auto backend = test_backend(1);
    if (!backend->asynchronous()) QSKIP("this device refuses such targets");
    const Weight head = random_weight(*backend, WeightFormat::f32, 50, 8, 3);
    const Tensor h = make_tensor(*backend, {4, 8}, DType::f32, random_values(32, 5));
    const Tensor targets = make_indices(*backend, {0, 50, 49, -1});
    const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
    const Tensor dh = make_poisoned(*backend, {4, 8}, DType::f32);
    backend->head_cross_entropy(h, head, targets, 1, sums, dh);
    QVERIFY(std::isnan(read_back(*backend, sums)[0]));
    const Values got = read_back(*backend, dh);
    for (std::size_t i = 0; i < got.size(); ++i) QCOMPARE(std::isnan(got[i]), i / 8 % 2 == 1);
  }

  void rows_may_have_gaps_where_the_device_allows_it() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("rows have no gaps on this device");
    for (const DType compute : compute_types()) {
      const Weight head = random_weight(*backend, WeightFormat::nf4, 70, 64, 3);
      const Values wide = rounded(random_values(5 * 75, 5), compute);
      Values h;
      for (std::size_t i = 0; i < wide.size(); ++i) {
        if (i % 75 >= 3 && i % 75 < 67) h.push_back(wide[i]);
      }
      const Tensor wide_h = make_tensor(*backend, {5, 75}, compute, wide);
      const Tensor wide_dh = make_tensor(*backend, {5, 75}, compute, wide);
      const Indices targets = random_indices(5, 70, 6);
      const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
      backend->head_cross_entropy(wide_h.view().column_range(3, 64), head, make_indices(*backend, targets), 1,
                                  sums, wide_dh.view().column_range(3, 64));
      const auto want = reference::head_cross_entropy(h, values_of(*backend, head, compute), targets, 1, 64);
      const Values got = read_back(*backend, wide_dh);
      Values dh;
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (i % 75 >= 3 && i % 75 < 67) {
          dh.push_back(got[i]);
        } else {
          QCOMPARE(got[i], wide[i]);
        }
      }
      Tolerance tolerance = tolerance_for(compute, 70);
      if (compute != DType::f32) tolerance.scaled += 0x1p-9;
      QCOMPARE(difference(dh, want.dh, tolerance), std::string());
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Weight head = random_weight(*backend, WeightFormat::bf16, 50, 8, 3);
    const Tensor h = make_tensor(*backend, {2, 8}, DType::f32, random_values(16, 5));
    const Tensor good = make_indices(*backend, {0, 49});
    const Tensor sums = make_tensor(*backend, {2}, DType::f64, {0, 0});
    const auto refused = [&](TensorView from, TensorView targets, TensorView to, TensorView dh) {
      return throws([&] { backend->head_cross_entropy(from, head, targets, 1, to, dh); },
                    ErrorCode::invalid_argument);
    };
    QVERIFY(!refused(h, good, sums, {}));
    if (!backend->asynchronous()) {  // else nobody looks at them before the work is done
      QVERIFY(refused(h, make_indices(*backend, {0, 50}), sums, {}));
      QVERIFY(refused(h, make_indices(*backend, {-1, 3}), sums, {}));
    }
    QVERIFY(refused(h, make_indices(*backend, {1}), sums, {}));
    QVERIFY(refused(h, good, make_tensor(*backend, {2}, DType::f32, {0, 0}), {}));
    QVERIFY(refused(h, good, sums, make_poisoned(*backend, {2, 8}, DType::bf16)));
    QVERIFY(refused(make_poisoned(*backend, {2, 9}, DType::f32), good, sums, {}));
    QVERIFY(throws(
        [&] {
          backend->head_logits(h, head, make_poisoned(*backend, {2, 51}, DType::f32));
        },
        ErrorCode::invalid_argument));
  }
};

QTEST_GUILESS_MAIN(TestHead)
#include "test_head.moc"
