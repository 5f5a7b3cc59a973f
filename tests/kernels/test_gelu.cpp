// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Case {
  Shape shape;
  DType dtype;
  Values x, dy;
  Case(std::int64_t rows, std::int64_t width, DType dtype_)
      : shape{rows, width},
        dtype(dtype_),
        x(rounded(random_values(rows * width, 1, 3.0), dtype_)),
        dy(rounded(random_values(rows * width, 2), dtype_)) {}

  Tensor on(Backend& backend, const Values& values) const {
    return make_tensor(backend, shape, dtype, values);
  }
  std::vector<Values> run(Backend& backend) const {
    const Tensor y = make_poisoned(backend, shape, dtype);
    const Tensor dx = make_poisoned(backend, shape, dtype);
    backend.gelu_forward(on(backend, x), y);
    backend.gelu_backward(on(backend, dy), on(backend, x), dx);
    return {read_back(backend, y), read_back(backend, dx)};
  }
};

}  // namespace

class TestGelu : public KernelTest {
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
                      compare(got[0], reference::gelu_forward(c.x), tolerance_for(dtype, 1), "y");
                      compare(got[1], reference::gelu_backward(c.dy, c.x), tolerance_for(dtype, 1), "dx");
                    });
    }
  }

  void backward_equals_finite_differences() {
    const Case c(2, 9, DType::f32);
    const Values slope = central_differences(
        [&](const Values& x) { return inner_product(reference::gelu_forward(x), c.dy); }, c.x);
    const auto backend = test_backend(1);
    compare(c.run(*backend)[1], slope, {1e-6, 1e-5, 0});
  }

  void the_gradient_may_overwrite_what_it_came_from() {
    for (const DType dtype : compute_types()) {
      const Case c(5, 37, dtype);
      const auto backend = test_backend(2);
      const Tensor dy = c.on(*backend, c.dy);
      backend->gelu_backward(dy, c.on(*backend, c.x), dy);
      QCOMPARE(read_back(*backend, dy), c.run(*backend)[1]);
    }
  }

  void columns_of_a_wider_buffer_are_taken_and_its_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, std::tuple{37, 3, 5}}) {
        const Case c(5, width, dtype);
        const WideTensor x = make_wide(*backend, c.shape, dtype, c.x, before, after);
        const WideTensor y = make_wide(*backend, c.shape, dtype, c.dy, before, after);
        backend->gelu_forward(x.view, y.view);
        QCOMPARE(read_wide(*backend, y), c.run(*backend)[0]);
        const WideTensor dy = make_wide(*backend, c.shape, dtype, c.dy, before, after);
        backend->gelu_backward(dy.view, x.view, dy.view);
        QCOMPARE(read_wide(*backend, dy), c.run(*backend)[1]);
      }
    }
  }

  void large_values_neither_overflow_nor_turn_into_nan() {
    Case c(1, 8, DType::f32);
    c.x = {-1e30, -200, -20, -12, 12, 20, 200, 1e30};
    c.dy = Values(8, 1.0);
    const auto backend = test_backend(1);
    const std::vector<Values> got = c.run(*backend);
    const Values want = rounded({0, 0, 0, 0, 12, 20, 200, 1e30}, DType::f32);
    compare(got[0], want, {1e-30, 1e-7, 0}, "y");
    compare(got[1], {0, 0, 0, 0, 1, 1, 1, 1}, {1e-30, 1e-7, 0}, "dx");
    c.x[0] = std::numeric_limits<double>::quiet_NaN();
    QVERIFY(std::isnan(c.run(*backend)[0][0]) && std::isnan(c.run(*backend)[1][0]));
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor a = backend->allocate({2, 3}, DType::f32);
    const Tensor wide = backend->allocate({2, 4}, DType::f32);
    const Tensor bytes = backend->allocate({2, 3}, DType::u8);
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->gelu_forward(a, wide); }));
    QVERIFY(refused([&] { backend->gelu_forward(bytes, bytes); }));
    QVERIFY(refused([&] { backend->gelu_backward(wide, a, a); }));
    QVERIFY(refused([&] { backend->gelu_backward(a, a, TensorView()); }));
  }
};

QTEST_GUILESS_MAIN(TestGelu)
#include "test_gelu.moc"
