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
    for (const DType dtype : compute_types()) {
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

  void a_pair_equals_both_turned_alone() {
    for (const DType dtype : compute_types()) {
      for (const auto& [head_dim, half] : {std::pair{64, 32}, std::pair{80, 16}, std::pair{16, 5}}) {
        const Case q(7, 6, head_dim, half, dtype);
        Case k(7, 2, head_dim, half, dtype);
        k.x = rounded(random_values(7 * 2 * head_dim, 3), dtype);
        const auto backend = test_backend(1);
        for (const bool inverse : {false, true}) {
          const Tensor q_data = make_tensor(*backend, {7, 6, head_dim}, dtype, q.x);
          const Tensor k_data = make_tensor(*backend, {7, 2, head_dim}, dtype, k.x);
          backend->rope_pair(q_data, k_data, make_indices(*backend, q.positions),
                             make_tensor(*backend, {50, half}, DType::f32, q.tables.cosine),
                             make_tensor(*backend, {50, half}, DType::f32, q.tables.sine), inverse);
          QCOMPARE(read_back(*backend, q_data), q.run(*backend, q.x, inverse));
          QCOMPARE(read_back(*backend, k_data), k.run(*backend, k.x, inverse));
        }
      }
    }
  }

  void appending_turns_and_stores_the_rows_of_its_positions() {
    for (const DType dtype : compute_types()) {
      for (const auto& [head_dim, half] : {std::pair{64, 32}, std::pair{80, 16}, std::pair{16, 5}}) {
        Case q(3, 4, head_dim, half, dtype);
        Case k(3, 2, head_dim, half, dtype);
        q.positions = k.positions = {11, 12, 13};
        const std::int64_t kv = 2 * head_dim;
        const Values v = rounded(random_values(3 * kv, 4), dtype);
        const Values before = rounded(random_values(20 * kv, 5), dtype);
        const auto backend = test_backend(1);
        const Tensor q_data = make_tensor(*backend, {3, 4, head_dim}, dtype, q.x);
        const Tensor k_data = make_tensor(*backend, {3, 2, head_dim}, dtype, k.x);
        const Tensor k_cache = make_tensor(*backend, {20, kv}, dtype, before);
        const Tensor v_cache = make_tensor(*backend, {20, kv}, dtype, before);
        backend->rope_append(q_data, k_data, make_tensor(*backend, {3, kv}, dtype, v),
                             make_indices(*backend, q.positions),
                             make_tensor(*backend, {50, half}, DType::f32, q.tables.cosine),
                             make_tensor(*backend, {50, half}, DType::f32, q.tables.sine), k_cache, v_cache);
        const Values k_turned = k.run(*backend, k.x, false);
        QCOMPARE(read_back(*backend, q_data), q.run(*backend, q.x, false));
        QCOMPARE(read_back(*backend, k_data), k_turned);
        const auto with_rows = [&](const Values& rows) {
          Values all = before;
          std::copy(rows.begin(), rows.end(), all.begin() + 11 * kv);
          return all;
        };
        QCOMPARE(read_back(*backend, k_cache), with_rows(k_turned));
        QCOMPARE(read_back(*backend, v_cache), with_rows(v));
      }
    }
  }

  void columns_of_one_wider_buffer_are_turned_in_place() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [before, after] : {std::pair{16, 32}, std::pair{3, 5}}) {
        const Case q(5, 3, 32, 16, dtype), k(5, 2, 32, 16, dtype);
        const WideTensor wide_q = make_wide(*backend, {5, 3, 32}, dtype, q.x, before, after);
        const WideTensor wide_k = make_wide(*backend, {5, 2, 32}, dtype, k.x, before, after);
        const WideTensor v = make_wide(*backend, {5, 64}, dtype, k.x, before, after);
        const Tensor cosine = make_tensor(*backend, {50, 16}, DType::f32, q.tables.cosine);
        const Tensor sine = make_tensor(*backend, {50, 16}, DType::f32, q.tables.sine);
        const Tensor k_cache = make_poisoned(*backend, {50, 64}, dtype);
        const Tensor v_cache = make_poisoned(*backend, {50, 64}, dtype);
        backend->rope_append(wide_q.view, wide_k.view, v.view, make_indices(*backend, {4, 5, 6, 7, 8}),
                             cosine, sine, k_cache, v_cache);
        Case want_q = q, want_k = k;
        want_q.positions = want_k.positions = {4, 5, 6, 7, 8};
        QCOMPARE(read_wide(*backend, wide_q), want_q.run(*backend, q.x, false));
        QCOMPARE(read_wide(*backend, wide_k), want_k.run(*backend, k.x, false));
        QCOMPARE(read_back(*backend, k_cache.view().row_range(4, 5)), want_k.run(*backend, k.x, false));
        QCOMPARE(read_back(*backend, v_cache.view().row_range(4, 5)), k.x);
      }
    }
  }

  void positions_outside_the_tables_give_nan_and_store_nothing() {
    const auto backend = test_backend(1);
    if (!backend->asynchronous()) QSKIP("this back end refuses them");
    const Case c(3, 2, 16, 8, DType::f32);
    const Tensor q = make_tensor(*backend, {3, 2, 16}, DType::f32, c.x);
    const Tensor k = make_tensor(*backend, {3, 2, 16}, DType::f32, c.x);
    const Tensor v = make_tensor(*backend, {3, 32}, DType::f32, c.x);
    const Tensor k_cache = make_tensor(*backend, {20, 32}, DType::f32, Values(640, 1.0));
    const Tensor v_cache = make_tensor(*backend, {20, 32}, DType::f32, Values(640, 1.0));
    backend->rope_append(q, k, v, make_indices(*backend, {-1, 20, 2000000000}),
                         make_tensor(*backend, {50, 8}, DType::f32, c.tables.cosine),
                         make_tensor(*backend, {50, 8}, DType::f32, c.tables.sine), k_cache, v_cache);
    for (const double value : read_back(*backend, q)) QVERIFY(std::isnan(value));
    for (const double value : read_back(*backend, k)) QVERIFY(std::isnan(value));
    QCOMPARE(read_back(*backend, k_cache), Values(640, 1.0));
    QCOMPARE(read_back(*backend, v_cache), Values(640, 1.0));
  }

  void dimensions_beyond_the_rotary_ones_pass_untouched() {
    for (const DType dtype : compute_types()) {
      const Case c(5, 2, 80, 16, dtype);
      const auto backend = test_backend(1);
      const Values got = c.run(*backend, c.x, false);
      for (std::size_t i = 0; i < got.size(); ++i) {
        if (i % 80 >= 32) QCOMPARE(got[i], c.x[i]);
      }
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
    if (!backend->asynchronous())
      QVERIFY(refused([&] { backend->rope(x, make_indices(*backend, {0, 5}), table, table, false); }));
    QVERIFY(refused([&] { backend->rope(x, make_indices(*backend, {0}), table, table, false); }));
    QVERIFY(refused([&] { backend->rope(x, good, wide, wide, false); }));
    QVERIFY(refused([&] { backend->rope(x, good, table, wide, false); }));
    QVERIFY(refused([&] { backend->rope(x.view().reshaped({6, 8}), good, table, table, false); }));
  }
};

QTEST_GUILESS_MAIN(TestRope)
#include "test_rope.moc"
