// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Case {
  Indices cu;
  reference::AttentionSizes sizes;
  DType dtype = DType::f32;
  Values q, k, v, dout;

  Case(Indices cu_, std::int64_t heads, std::int64_t kv_heads, std::int64_t head_dim, std::int64_t window,
       DType dtype_, double soft_cap = 0)
      : cu(std::move(cu_)),
        sizes{heads,
              kv_heads,
              head_dim,
              window,
              static_cast<double>(static_cast<float>(1 / std::sqrt(head_dim))),
              soft_cap},
        dtype(dtype_),
        q(rounded(random_values(tokens() * heads * head_dim, 1, 2.0), dtype)),
        k(rounded(random_values(tokens() * kv_heads * head_dim, 2), dtype)),
        v(rounded(random_values(tokens() * kv_heads * head_dim, 3), dtype)),
        dout(rounded(random_values(tokens() * heads * head_dim, 4), dtype)) {}

  std::int64_t tokens() const { return cu.back(); }
  Shape q_shape() const { return {tokens(), sizes.heads * sizes.head_dim}; }
  Shape kv_shape() const { return {tokens(), sizes.kv_heads * sizes.head_dim}; }
  AttentionShape shape() const {
    return {sizes.heads,    sizes.kv_heads,
            sizes.head_dim, static_cast<float>(sizes.scale),
            sizes.window,   static_cast<float>(sizes.soft_cap)};
  }

  /// out, lse, dq, dk, dv.
  std::vector<Values> run(Backend& backend) const { return run(backend, q, k, v); }
  std::vector<Values> run(Backend& backend, const Values& q_values, const Values& k_values,
                          const Values& v_values) const {
    const Tensor starts = make_indices(backend, cu);
    const Tensor positions = make_indices(backend, Indices(static_cast<std::size_t>(tokens()), 0));
    PackedRows rows{starts, positions, static_cast<std::int64_t>(cu.size()) - 1, tokens()};
    const Tensor tq = make_tensor(backend, q_shape(), dtype, q_values);
    const Tensor tk = make_tensor(backend, kv_shape(), dtype, k_values);
    const Tensor tv = make_tensor(backend, kv_shape(), dtype, v_values);
    const Tensor out = make_poisoned(backend, q_shape(), dtype);
    const Tensor lse = make_poisoned(backend, {tokens(), sizes.heads}, DType::f32);
    backend.attention_forward(tq, tk, tv, rows, shape(), out, lse);
    const Tensor dq = make_poisoned(backend, q_shape(), dtype);
    const Tensor dk = make_poisoned(backend, kv_shape(), dtype);
    const Tensor dv = make_poisoned(backend, kv_shape(), dtype);
    backend.attention_backward(make_tensor(backend, q_shape(), dtype, dout), tq, tk, tv, out, lse, rows,
                               shape(), dq, dk, dv);
    return {read_back(backend, out), read_back(backend, lse), read_back(backend, dq), read_back(backend, dk),
            read_back(backend, dv)};
  }
  /// The same where all operands are columns of buffers whose rows have `gap` elements more.
  std::vector<Values> run_on_columns(Backend& backend, std::int64_t gap) const {
    const Tensor starts = make_indices(backend, cu);
    const PackedRows rows{starts, starts, static_cast<std::int64_t>(cu.size()) - 1, tokens()};
    const std::int64_t q_width = sizes.heads * sizes.head_dim;
    const std::int64_t kv_width = sizes.kv_heads * sizes.head_dim;
    const std::int64_t width = q_width + 2 * kv_width + gap;
    const auto side_by_side = [&](const Values& first, const Values& second, const Values& third) {
      Values all(static_cast<std::size_t>(tokens() * width), std::numeric_limits<double>::quiet_NaN());
      for (std::int64_t t = 0; t < tokens(); ++t) {
        auto to = all.begin() + t * width;
        to = std::copy_n(first.begin() + t * q_width, q_width, to);
        to = std::copy_n(second.begin() + t * kv_width, kv_width, to);
        std::copy_n(third.begin() + t * kv_width, kv_width, to);
      }
      return make_tensor(backend, {tokens(), width}, dtype, all);
    };
    const Tensor qkv = side_by_side(q, k, v);
    const Tensor gradients = make_poisoned(backend, {tokens(), width}, dtype);
    const Tensor outs = make_poisoned(backend, {tokens(), q_width + gap}, dtype);
    const Tensor douts = side_by_side(dout, k, v);
    const Tensor lse = make_poisoned(backend, {tokens(), sizes.heads}, DType::f32);
    const auto part = [&](const Tensor& all, std::int64_t first, std::int64_t count) {
      return all.view().column_range(first, count);
    };
    const TensorView tq = part(qkv, 0, q_width);
    const TensorView tk = part(qkv, q_width, kv_width);
    const TensorView tv = part(qkv, q_width + kv_width, kv_width);
    const TensorView out = part(outs, 0, q_width);
    backend.attention_forward(tq, tk, tv, rows, shape(), out, lse);
    backend.attention_backward(part(douts, 0, q_width), tq, tk, tv, out, lse, rows, shape(),
                               part(gradients, 0, q_width), part(gradients, q_width, kv_width),
                               part(gradients, q_width + kv_width, kv_width));
    const auto columns = [&](const Tensor& all, std::int64_t first, std::int64_t count) {
      const Values values = read_back(backend, all);
      const std::int64_t row = all.view().columns();
      Values some;
      for (std::int64_t t = 0; t < tokens(); ++t) {
        some.insert(some.end(), values.begin() + t * row + first, values.begin() + t * row + first + count);
        for (std::int64_t i = row - gap; i < row; ++i) {
          if (!std::isnan(values[static_cast<std::size_t>(t * row + i)])) return Values();  // written outside
        }
      }
      return some;
    };
    return {columns(outs, 0, q_width), read_back(backend, lse), columns(gradients, 0, q_width),
            columns(gradients, q_width, kv_width), columns(gradients, q_width + kv_width, kv_width)};
  }
  /// The same after an operation that left NaN in all scratch memory.
  std::vector<Values> run_on_poisoned_scratch(Backend& backend) const {
    const Values nan_q(q.size(), std::numeric_limits<double>::quiet_NaN());
    const Values nan_k(k.size(), std::numeric_limits<double>::quiet_NaN());
    run(backend, nan_q, nan_k, nan_k);
    return run(backend);
  }
};

void check_case(
    const Case& c, const std::vector<Values>& got,
    const std::function<void(const Values&, const Values&, const Tolerance&, const char*)>& compare) {
  const reference::Attention forward = reference::attention_forward(c.q, c.k, c.v, c.cu, c.sizes);
  const reference::AttentionGradients backward =
      reference::attention_backward(c.dout, c.q, c.k, c.v, c.cu, c.sizes);
  const Tolerance tolerance = attention_tolerance(c.dtype, c.tokens());
  compare(got[0], forward.out, tolerance, "out");
  compare(got[1], forward.lse, {1e-5, 1e-5, 0}, "lse");
  compare(got[2], backward.dq, tolerance, "dq");
  compare(got[3], backward.dk, tolerance, "dk");
  compare(got[4], backward.dv, tolerance, "dv");
}

}  // namespace

class TestAttention : public KernelTest {
  Q_OBJECT
 private slots:
  void forward_and_backward_equal_the_reference_data() {
    QTest::addColumn<QVector<int>>("lengths");
    QTest::addColumn<int>("heads");
    QTest::addColumn<int>("kv_heads");
    QTest::addColumn<int>("head_dim");
    QTest::addColumn<int>("window");
    QTest::addColumn<double>("soft_cap");
    using Lengths = QVector<int>;
    for (const int head_dim : {8, 16, 32, 40, 64, 80, 96, 128}) {
      QTest::addRow("head_dim %d", head_dim) << Lengths{33, 1, 70} << 4 << 2 << head_dim << 0 << 0.0;
    }
    for (const int head_dim : {136, 192, 256}) {
      QTest::addRow("head_dim %d", head_dim) << Lengths{33, 1, 40} << 2 << 1 << head_dim << 0 << 0.0;
    }
    QTest::addRow("head_dim 1") << Lengths{5} << 2 << 1 << 1 << 0 << 0.0;
    QTest::addRow("head_dim 7") << Lengths{17, 3} << 1 << 1 << 7 << 0 << 0.0;
    QTest::addRow("head_dim 35") << Lengths{17, 70} << 2 << 1 << 35 << 0 << 0.0;
    for (const int length : {1, 2, 3, 15, 16, 17, 63, 64, 65, 127, 129}) {
      QTest::addRow("one sequence of %d", length) << Lengths{length} << 3 << 1 << 16 << 0 << 0.0;
    }
    QTest::addRow("an empty sequence between others") << Lengths{5, 0, 20, 0} << 2 << 2 << 16 << 0 << 0.0;
    QTest::addRow("no token at all") << Lengths{0} << 2 << 1 << 16 << 0 << 0.0;
    QTest::addRow("many short sequences")
        << Lengths{1, 2, 3, 4, 5, 6, 7, 8, 1, 1} << 6 << 3 << 32 << 0 << 0.0;
    QTest::addRow("forty sequences of a token") << Lengths(40, 1) << 2 << 1 << 8 << 0 << 0.0;
    QTest::addRow("nine heads on three") << Lengths{130, 70} << 9 << 3 << 64 << 0 << 0.0;
    QTest::addRow("eight heads on one") << Lengths{3, 67} << 8 << 1 << 32 << 0 << 0.0;
    QTest::addRow("every head its own keys") << Lengths{66, 2} << 3 << 3 << 32 << 0 << 0.0;
    for (const int window : {1, 2, 5, 63, 64, 65, 100, 1000}) {
      QTest::addRow("window %d", window) << Lengths{150, 40} << 2 << 1 << 16 << window << 0.0;
    }
    for (const int head_dim : {16, 256}) {
      QTest::addRow("soft cap, head_dim %d", head_dim) << Lengths{70, 9} << 2 << 1 << head_dim << 0 << 2.0;
    }
    QTest::addRow("a soft cap far above all scores") << Lengths{40} << 2 << 2 << 32 << 0 << 50.0;
    QTest::addRow("soft cap and window") << Lengths{5, 140} << 6 << 2 << 32 << 33 << 1.5;
  }
  void forward_and_backward_equal_the_reference() {
    QFETCH(QVector<int>, lengths);
    QFETCH(int, heads);
    QFETCH(int, kv_heads);
    QFETCH(int, head_dim);
    QFETCH(int, window);
    QFETCH(double, soft_cap);
    Indices cu{0};
    for (const int length : lengths) cu.push_back(cu.back() + length);
    for (const DType dtype : compute_types()) {
      const Case c(cu, heads, kv_heads, head_dim, window, dtype, soft_cap);
      check_outputs([&](Backend& backend) { return c.run_on_poisoned_scratch(backend); },
                    [&](const std::vector<Values>& got) { check_case(c, got, compare); });
    }
  }

  void the_reference_gradients_are_finite_differences_data() {
    QTest::addColumn<double>("soft_cap");
    QTest::addRow("no cap") << 0.0;
    QTest::addRow("soft cap 1.5") << 1.5;
  }
  void the_reference_gradients_are_finite_differences() {
    QFETCH(double, soft_cap);
    const Case c({0, 2, 7}, 4, 2, 3, 3, DType::f32, soft_cap);
    const auto loss = [&](const Values& q, const Values& k, const Values& v) {
      return inner_product(reference::attention_forward(q, k, v, c.cu, c.sizes).out, c.dout);
    };
    const reference::AttentionGradients g =
        reference::attention_backward(c.dout, c.q, c.k, c.v, c.cu, c.sizes);
    const Tolerance near{1e-8, 0, 1e-7};
    compare(g.dq, central_differences([&](const Values& q) { return loss(q, c.k, c.v); }, c.q), near, "dq");
    compare(g.dk, central_differences([&](const Values& k) { return loss(c.q, k, c.v); }, c.k), near, "dk");
    compare(g.dv, central_differences([&](const Values& v) { return loss(c.q, c.k, v); }, c.v), near, "dv");
  }

  void the_gradients_are_finite_differences_of_the_operation_data() {
    QTest::addColumn<int>("window");
    QTest::addColumn<double>("soft_cap");
    QTest::addRow("plain") << 0 << 0.0;
    QTest::addRow("window and soft cap") << 3 << 1.5;
  }
  void the_gradients_are_finite_differences_of_the_operation() {
    QFETCH(int, window);
    QFETCH(double, soft_cap);
    const Case c({0, 3, 8}, 2, 1, 8, window, DType::f32, soft_cap);
    const auto backend = test_backend(1);
    const auto loss = [&](const Values& q, const Values& k, const Values& v) {
      return inner_product(c.run(*backend, q, k, v)[0], c.dout);
    };
    const std::vector<Values> got = c.run(*backend);
    const Tolerance near{1e-4, 0, 1e-3};
    compare(got[2], central_differences([&](const Values& q) { return loss(q, c.k, c.v); }, c.q, 1e-2), near,
            "dq");
    compare(got[3], central_differences([&](const Values& k) { return loss(c.q, k, c.v); }, c.k, 1e-2), near,
            "dk");
    compare(got[4], central_differences([&](const Values& v) { return loss(c.q, c.k, v); }, c.v, 1e-2), near,
            "dv");
  }

  void columns_of_wider_buffers_give_the_same_bits() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end does not take columns of wider buffers");
    for (const DType dtype : compute_types()) {
      for (const std::int64_t gap : {8, 3}) {  // rows that start at multiples of 16 bytes, and others
        const Case c({0, 70, 79}, 4, 2, 16, 0, dtype);
        const std::vector<Values> got = c.run_on_columns(*backend, gap);
        const std::vector<Values> want = c.run(*backend);
        for (std::size_t i = 0; i < want.size(); ++i) QCOMPARE(got[i], want[i]);
      }
    }
  }

  void packed_sequences_give_the_bits_they_give_alone() {
    for (const DType dtype : compute_types()) {
      const Case together({0, 70, 71, 105}, 4, 2, 32, 0, dtype);
      const auto backend = test_backend(2);
      const std::vector<Values> packed = together.run(*backend);
      for (std::size_t i = 0; i + 1 < together.cu.size(); ++i) {
        const std::int32_t begin = together.cu[i];
        const std::int32_t end = together.cu[i + 1];
        Case alone({0, end - begin}, 4, 2, 32, 0, dtype);
        const auto part = [&](const Values& all, std::int64_t width) {
          return Values(all.begin() + begin * width, all.begin() + end * width);
        };
        alone.q = part(together.q, 128);
        alone.k = part(together.k, 64);
        alone.v = part(together.v, 64);
        alone.dout = part(together.dout, 128);
        const std::vector<Values> got = alone.run(*backend);
        QCOMPARE(got[0], part(packed[0], 128));
        QCOMPARE(got[2], part(packed[2], 128));
        QCOMPARE(got[3], part(packed[3], 64));
        QCOMPARE(got[4], part(packed[4], 64));
      }
    }
  }

  void n09_sequences_without_tokens_change_nothing_and_give_no_nan() {
    for (const DType dtype : compute_types()) {
      const auto backend = test_backend(1);
      const Case with({0, 33, 44, 44, 44}, 4, 2, 16, 0, dtype), without({0, 33, 44}, 4, 2, 16, 0, dtype);
      const std::vector<Values> got = with.run_on_poisoned_scratch(*backend);
      QCOMPARE(got, without.run(*backend));
      for (const Values& values : got) {
        for (const double value : values) QVERIFY(std::isfinite(value));
      }
    }
  }

  void scores_far_apart_stay_finite() {
    for (const DType dtype : compute_types()) {
      Case c({0, 90}, 2, 1, 16, 0, dtype);
      for (double& value : c.q) value = rounded({value * 100}, dtype)[0];
      const auto backend = test_backend(1);
      const std::vector<Values> got = c.run(*backend);
      compare(got[0], reference::attention_forward(c.q, c.k, c.v, c.cu, c.sizes).out,
              dtype == DType::f32 ? Tolerance{1e-3, 1e-3, 0} : attention_tolerance(dtype, 90), "out");
      for (const Values& values : got) {
        for (const double value : values) QVERIFY(std::isfinite(value));
      }
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Case c({0, 2, 5}, 4, 2, 8, 0, DType::f32);
    const Tensor q = make_poisoned(*backend, c.q_shape(), DType::f32);
    const Tensor k = make_poisoned(*backend, c.kv_shape(), DType::f32);
    const Tensor out = make_poisoned(*backend, c.q_shape(), DType::f32);
    const Tensor lse = make_poisoned(*backend, {5, 4}, DType::f32);
    const auto refused = [&](Indices cu, AttentionShape shape, const TensorView& keys,
                             const TensorView& output) {
      const Tensor starts = make_indices(*backend, cu);
      const PackedRows rows{starts, starts, static_cast<std::int64_t>(cu.size()) - 1, 5};
      const bool forward = throws([&] { backend->attention_forward(q, keys, k, rows, shape, output, lse); },
                                  ErrorCode::invalid_argument);
      const bool backward =
          throws([&] { backend->attention_backward(out, q, keys, k, output, lse, rows, shape, q, k, k); },
                 ErrorCode::invalid_argument);
      return forward && backward;
    };
    AttentionShape shape = c.shape();
    if (!backend->asynchronous()) {                // else nobody looks at them before the work is done
      QVERIFY(refused({0, 2, 4}, shape, k, out));  // does not reach the end
      QVERIFY(refused({0, 6, 5}, shape, k, out));  // falls, and reads outside
      QVERIFY(refused({1, 2, 5}, shape, k, out));  // does not start at 0
    }
    QVERIFY(refused({0, 2, 5}, shape, q, out));  // keys of another width
    QVERIFY(refused({0, 2, 5}, shape, k, lse));  // output of another width
    QVERIFY(refused({0, 2, 5}, shape, k, TensorView()));
    shape.kv_heads = 3;
    QVERIFY(refused({0, 2, 5}, shape, k, out));
    shape = c.shape();
    shape.window = -1;
    QVERIFY(refused({0, 2, 5}, shape, k, out));
    shape = c.shape();
    shape.soft_cap = -1;
    QVERIFY(refused({0, 2, 5}, shape, k, out));
  }
};

QTEST_GUILESS_MAIN(TestAttention)
#include "test_attention.moc"
