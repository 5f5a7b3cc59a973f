// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

/// Tables for `positions` positions of `half` angles.
struct Tables {
  Values cosine, sine;
  Tables(std::int64_t positions, std::int64_t half) {
    for (std::int64_t p = 0; p < positions; ++p) {
      for (std::int64_t i = 0; i < half; ++i) {
        const double angle =
            static_cast<double>(p) * std::pow(10000.0, -static_cast<double>(i) / static_cast<double>(half));
        cosine.push_back(std::cos(angle));
        sine.push_back(std::sin(angle));
      }
    }
    cosine = rounded(cosine, DType::f32);
    sine = rounded(sine, DType::f32);
  }
};

struct Case {
  std::int64_t tokens, heads, head_dim, half;
  DType dtype;
  Indices positions;
  Tables tables;
  Values x;
  Case(std::int64_t t, std::int64_t h, std::int64_t d, std::int64_t half_, DType dtype_)
      : tokens(t),
        heads(h),
        head_dim(d),
        half(half_),
        dtype(dtype_),
        positions(random_indices(t, 50, 1)),
        tables(50, half_),
        x(rounded(random_values(t * h * d, 2), dtype_)) {}

  Values run(Backend& backend, const Values& values, bool inverse) const {
    const Tensor data = make_tensor(backend, {tokens, heads, head_dim}, dtype, values);
    backend.rope(data, make_indices(backend, positions),
                 make_tensor(backend, {50, half}, DType::f32, tables.cosine),
                 make_tensor(backend, {50, half}, DType::f32, tables.sine), inverse);
    return read_back(backend, data);
  }
  Values want(const Values& values, bool inverse) const {
    return reference::rope(values, positions, tables.cosine, tables.sine, heads, head_dim, half, inverse);
  }
};

}  // namespace

class TestRope : public KernelTest {
  Q_OBJECT
 private slots:
  void turning_equals_the_reference_data() {
    QTest::addColumn<int>("tokens");
    QTest::addColumn<int>("heads");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("half");
    for (const int head_dim : {2, 8, 16, 32, 64, 80, 128}) {
      QTest::addRow("whole head_dim %d", head_dim) << 7 << 3 << head_dim << head_dim / 2;
    }
    QTest::addRow("32 of 80 turn") << 17 << 2 << 80 << 16;
    QTest::addRow("10 of 16 turn") << 3 << 1 << 16 << 5;
    QTest::addRow("none turn") << 3 << 2 << 16 << 0;
    QTest::addRow("many tokens") << 129 << 9 << 64 << 32;
  }
  void turning_equals_the_reference() {
    QFETCH(int, tokens);
    QFETCH(int, heads);
    QFETCH(int, head_dim);
    QFETCH(int, half);
    for (const DType dtype : {DType::f32, DType::bf16}) {
      for (const bool inverse : {false, true}) {
        if (half == 0) continue;
        const Case c(tokens, heads, head_dim, half, dtype);
        check_outputs([&](Backend& backend) { return std::vector<Values>{c.run(backend, c.x, inverse)}; },
                      [&](const std::vector<Values>& got) {
                        compare(got[0], c.want(c.x, inverse), tolerance_for(dtype, 2));
                      });
      }
    }
  }

  void dimensions_beyond_the_rotary_ones_pass_untouched() {
    const Case c(5, 2, 80, 16, DType::bf16);
    const auto backend = test_backend(1);
    const Values got = c.run(*backend, c.x, false);
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (i % 80 >= 32) QCOMPARE(got[i], c.x[i]);
    }
  }

  void turning_back_undoes_turning() {
    const Case c(9, 3, 64, 32, DType::f32);
    const auto backend = test_backend(1);
    compare(c.run(*backend, c.run(*backend, c.x, false), true), c.x, {1e-6, 1e-5, 0});
  }

  void the_inverse_is_the_gradient_of_the_rotation() {
    const Case c(2, 2, 8, 3, DType::f32);
    const Values dy = random_values(2 * 2 * 8, 5);
    const Values slope =
        central_differences([&](const Values& x) { return inner_product(c.want(x, false), dy); }, c.x);
    const auto backend = test_backend(1);
    compare(c.run(*backend, dy, true), slope, {1e-6, 1e-5, 0});
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor x = backend->allocate({2, 3, 8}, DType::f32);
    const Tensor table = make_tensor(*backend, {5, 4}, DType::f32, Values(20, 0.0));
    const Tensor wide = make_tensor(*backend, {5, 5}, DType::f32, Values(25, 0.0));
    const Tensor good = make_indices(*backend, {0, 4});
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->rope(x, make_indices(*backend, {0, 5}), table, table, false); }));
    QVERIFY(refused([&] { backend->rope(x, make_indices(*backend, {0}), table, table, false); }));
    QVERIFY(refused([&] { backend->rope(x, good, wide, wide, false); }));
    QVERIFY(refused([&] { backend->rope(x, good, table, wide, false); }));
    QVERIFY(refused([&] { backend->rope(x.view().reshaped({6, 8}), good, table, table, false); }));
  }
};

QTEST_GUILESS_MAIN(TestRope)
#include "test_rope.moc"
