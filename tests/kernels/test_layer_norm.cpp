// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <tuple>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

constexpr float epsilon = 1e-5f;

struct Case {
  std::int64_t rows, width;
  DType dtype;
  Values x, weight, bias, dy, before;
  Case(std::int64_t rows_, std::int64_t width_, DType dtype_, double offset = 0.5)
      : rows(rows_),
        width(width_),
        dtype(dtype_),
        x(random_values(rows * width, 1, 2.0)),
        weight(rounded(random_values(width, 2), DType::f32)),
        bias(rounded(random_values(width, 3), DType::f32)),
        dy(rounded(random_values(rows * width, 4), dtype)),
        before(rounded(random_values(rows * width, 5), dtype)) {
    for (double& value : x) value += offset;
    x = rounded(x, dtype);
  }

  Tensor on(Backend& backend, const Values& values) const {
    return make_tensor(backend, {rows, width}, dtype, values);
  }
  Tensor row_on(Backend& backend, const Values& values) const {
    return make_tensor(backend, {width}, DType::f32, values);
  }

  /// y, mean, rstd, dx, before + dx.
  std::vector<Values> run(Backend& backend) const {
    const Tensor input = on(backend, x);
    const Tensor w = row_on(backend, weight);
    const Tensor y = make_poisoned(backend, {rows, width}, dtype);
    const Tensor mean = make_poisoned(backend, {rows}, DType::f32);
    const Tensor rstd = make_poisoned(backend, {rows}, DType::f32);
    backend.layer_norm_forward(input, w, row_on(backend, bias), epsilon, y, mean, rstd);
    const Tensor dx = make_poisoned(backend, {rows, width}, dtype);
    const Tensor sum = on(backend, before);
    backend.layer_norm_backward(on(backend, dy), input, w, mean, rstd, dx, Write::overwrite);
    backend.layer_norm_backward(on(backend, dy), input, w, mean, rstd, sum, Write::accumulate);
    return {read_back(backend, y), read_back(backend, mean), read_back(backend, rstd), read_back(backend, dx),
            read_back(backend, sum)};
  }
};

}  // namespace

class TestLayerNorm : public KernelTest {
  Q_OBJECT
 private slots:
  void forward_and_backward_equal_the_reference_data() { shapes(); }
  void forward_and_backward_equal_the_reference() {
    QFETCH(int, rows);
    QFETCH(int, width);
    for (const DType dtype : compute_types()) {
      const Case c(rows, width, dtype);
      check_outputs([&](Backend& backend) { return c.run(backend); },
                    [&](const std::vector<Values>& got) {
                      const auto want = reference::layer_norm_forward(c.x, c.weight, c.bias, epsilon);
                      compare(got[0], want.y, tolerance_for(dtype, width), "y");
                      compare(got[1], want.mean, {1e-6, 1e-6, 0}, "mean");
                      compare(got[2], want.rstd, {0, 4e-6, 0}, "rstd");
                      const Values dx = reference::layer_norm_backward(c.dy, c.x, c.weight, epsilon);
                      // A row of one value: the gradient is 0 times a huge rstd.
                      Tolerance tolerance = tolerance_for(dtype, width);
                      if (width == 1) tolerance.absolute = 1e-3;
                      compare(got[3], dx, tolerance, "dx");
                      Values sum = dx;
                      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += c.before[i];
                      compare(got[4], sum, tolerance, "dx added");
                    });
    }
  }

  void backward_equals_finite_differences() {
    const Case c(3, 17, DType::f32);
    const Values slope = central_differences(
        [&](const Values& x) {
          return inner_product(reference::layer_norm_forward(x, c.weight, c.bias, epsilon).y, c.dy);
        },
        c.x);
    compare(reference::layer_norm_backward(c.dy, c.x, c.weight, epsilon), slope, {1e-8, 0, 1e-7},
            "reference");
    const auto backend = test_backend(1);
    compare(c.run(*backend)[3], slope, {1e-6, 0, 1e-5}, "operation");
  }

  void rows_far_from_zero_keep_their_digits() {
    // The square of the mean is 2500 times the variance: subtracting the two would lose four digits.
    const Case c(5, 70, DType::f32, 100.0);
    const auto backend = test_backend(1);
    const auto want = reference::layer_norm_forward(c.x, c.weight, c.bias, epsilon);
    const std::vector<Values> got = c.run(*backend);
    compare(got[2], want.rstd, {0, 1e-5, 0}, "rstd");
    compare(got[0], want.y, {1e-5, 1e-5, 1e-5}, "y");
  }

  void rows_of_equal_values_give_the_bias() {
    Case c(4, 33, DType::f32);
    c.x.assign(c.x.size(), 3.0);
    const auto backend = test_backend(1);
    const Values got = c.run(*backend)[0];
    for (std::size_t i = 0; i < got.size(); ++i) QCOMPARE(got[i], c.bias[i % 33]);
  }

  void columns_of_a_wider_buffer_are_taken_and_its_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, std::tuple{37, 3, 5}}) {
        const Case c(5, width, dtype);
        const std::vector<Values> want = c.run(*backend);
        const auto wide = [&](const Values& values) {
          return make_wide(*backend, {c.rows, c.width}, dtype, values, before, after);
        };
        const WideTensor x = wide(c.x), y = wide(c.before), dy = wide(c.dy), dx = wide(c.before);
        const Tensor mean = make_poisoned(*backend, {c.rows}, DType::f32);
        const Tensor rstd = make_poisoned(*backend, {c.rows}, DType::f32);
        const Tensor w = c.row_on(*backend, c.weight);
        backend->layer_norm_forward(x.view, w, c.row_on(*backend, c.bias), epsilon, y.view, mean, rstd);
        compare(read_wide(*backend, y), want[0], {1e-6, 0x1p-7, 1e-6}, "y");
        backend->layer_norm_backward(dy.view, x.view, w, mean, rstd, dx.view, Write::accumulate);
        compare(read_wide(*backend, dx), want[4], {1e-6, 0x1p-7, 1e-6}, "dx");
      }
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor x = backend->allocate({4, 3}, DType::f32);
    const Tensor y = backend->allocate({4, 3}, DType::f32);
    const Tensor bytes = backend->allocate({4, 3}, DType::u8);
    const Tensor row = make_tensor(*backend, {3}, DType::f32, Values(3, 0.0));
    const Tensor column = make_tensor(*backend, {4}, DType::f32, Values(4, 0.0));
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->layer_norm_forward(x, column, row, epsilon, y, column, column); }));
    QVERIFY(refused([&] { backend->layer_norm_forward(x, row, column, epsilon, y, column, column); }));
    QVERIFY(refused([&] { backend->layer_norm_forward(x, row, row, epsilon, bytes, column, column); }));
    QVERIFY(refused([&] { backend->layer_norm_forward(x, row, row, epsilon, y, row, column); }));
    QVERIFY(refused([&] { backend->layer_norm_forward(x, row, row, epsilon, y, column, TensorView()); }));
    QVERIFY(refused([&] { backend->layer_norm_forward(bytes, row, row, epsilon, bytes, column, column); }));
    QVERIFY(refused([&] { backend->layer_norm_backward(x, x, row, row, column, y, Write::overwrite); }));
    QVERIFY(
        refused([&] { backend->layer_norm_backward(bytes, x, row, column, column, y, Write::overwrite); }));
  }
};

QTEST_GUILESS_MAIN(TestLayerNorm)
#include "test_layer_norm.moc"
