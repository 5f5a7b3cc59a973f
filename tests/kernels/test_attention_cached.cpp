// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <limits>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

Tensor make_positions(Backend& backend, int first, int count) {
  Indices positions;
  for (int i = 0; i < count; ++i) positions.push_back(first + i);
  return make_indices(backend, positions);
}

}  // namespace

class TestAttentionCached : public KernelTest {
  Q_OBJECT

 private slots:
  void a_cache_is_attended_up_to_each_query_data() {
    QTest::addColumn<int>("position");
    QTest::addColumn<int>("queries");
    QTest::addColumn<int>("heads");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("window");
    QTest::addColumn<double>("soft_cap");
    QTest::addRow("first token") << 0 << 1 << 4 << 2 << 16 << 0 << 0.0;
    for (const int position : {1, 7, 63, 255, 256, 257, 600}) {
      QTest::addRow("one query at %d", position) << position << 1 << 9 << 3 << 64 << 0 << 0.0;
    }
    for (const int head_dim : {1, 7, 8, 32, 80, 128, 192, 256}) {
      QTest::addRow("head_dim %d", head_dim) << 33 << 2 << 4 << 2 << head_dim << 0 << 0.0;
    }
    QTest::addRow("eight heads on one") << 130 << 9 << 8 << 1 << 32 << 0 << 0.0;
    for (const int queries : {2, 8, 9, 65, 130}) {
      QTest::addRow("%d queries at 70", queries) << 70 << queries << 6 << 2 << 16 << 0 << 0.0;
    }
    for (const int window : {1, 5, 64, 300}) {
      QTest::addRow("one query, window %d", window) << 400 << 1 << 2 << 1 << 16 << window << 0.0;
      QTest::addRow("five queries, window %d", window) << 400 << 5 << 2 << 1 << 16 << window << 0.0;
      QTest::addRow("seventy queries, window %d", window) << 100 << 70 << 2 << 1 << 16 << window << 0.0;
    }
    QTest::addRow("a whole prompt") << 0 << 129 << 3 << 3 << 32 << 0 << 0.0;
    for (const int queries : {1, 70}) {
      QTest::addRow("%d queries, soft cap", queries) << 90 << queries << 4 << 2 << 32 << 0 << 1.5;
      QTest::addRow("%d queries, soft cap and window", queries) << 90 << queries << 4 << 2 << 32 << 50 << 1.5;
    }
  }
  void a_cache_is_attended_up_to_each_query() {
    QFETCH(int, position);
    QFETCH(int, queries);
    QFETCH(int, heads);
    QFETCH(int, kv_heads);
    QFETCH(int, head_dim);
    QFETCH(int, window);
    QFETCH(double, soft_cap);
    const std::int64_t used = position + queries;
    const std::int64_t capacity = used + 19;
    for (const DType dtype : compute_types()) {
      const reference::AttentionSizes sizes{heads, kv_heads, head_dim, window, 0.25, soft_cap};
      const Values q = rounded(random_values(queries * heads * head_dim, 1, 2.0), dtype);
      Values k = rounded(random_values(capacity * kv_heads * head_dim, 2), dtype);
      Values v = rounded(random_values(capacity * kv_heads * head_dim, 3), dtype);
      const Values want = reference::attention_cached(q, k, v, position, sizes);
      // Rows that hold nothing yet must not be read.
      for (std::size_t i = static_cast<std::size_t>(used * kv_heads * head_dim); i < k.size(); ++i) {
        k[i] = v[i] = std::numeric_limits<double>::quiet_NaN();
      }
      check_outputs(
          [&](Backend& backend) {
            const Shape cache{capacity, kv_heads * head_dim};
            const Tensor out = make_poisoned(backend, {queries, heads * head_dim}, dtype);
            backend.attention_cached(
                make_tensor(backend, out.shape(), dtype, q), make_tensor(backend, cache, dtype, k),
                make_tensor(backend, cache, dtype, v), make_positions(backend, position, queries), used,
                {heads, kv_heads, head_dim, 0.25f, window, static_cast<float>(soft_cap)}, out);
            return std::vector<Values>{read_back(backend, out)};
          },
          [&](const std::vector<Values>& got) { compare(got[0], want, attention_tolerance(dtype, used)); });
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor q = make_poisoned(*backend, {5, 32}, DType::f32),
                 out = make_poisoned(*backend, {5, 32}, DType::f32);
    const Tensor k = make_poisoned(*backend, {5, 16}, DType::f32);
    const AttentionShape shape{4, 2, 8, 0.25f, 0, 0};
    const auto refused = [&](const Indices& positions, std::int64_t limit) {
      const Tensor at = make_indices(*backend, positions);
      return throws([&] { backend->attention_cached(q, k, k, at, limit, shape, out); },
                    ErrorCode::invalid_argument);
    };
    QVERIFY(!refused({0, 1, 2, 3, 4}, 5));
    QVERIFY(refused({0, 1, 2, 3}, 5));     // fewer positions than queries
    QVERIFY(refused({0, 1, 2, 3, 4}, 6));  // a limit beyond the cache
  }
};

QTEST_GUILESS_MAIN(TestAttentionCached)
#include "test_attention_cached.moc"
