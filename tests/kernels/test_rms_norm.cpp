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
  Values x, weight, dy, before;
  Case(std::int64_t rows_, std::int64_t width_, DType dtype_)
      : rows(rows_),
        width(width_),
        dtype(dtype_),
        x(rounded(random_values(rows * width, 1, 2.0), dtype)),
        weight(rounded(random_values(width, 2), DType::f32)),
        dy(rounded(random_values(rows * width, 3), dtype)),
        before(rounded(random_values(rows * width, 4), dtype)) {}

  Tensor on(Backend& backend, const Values& values) const {
    return make_tensor(backend, {rows, width}, dtype, values);
  }
  Tensor weight_on(Backend& backend) const { return make_tensor(backend, {width}, DType::f32, weight); }

  /// What the rows are multiplied with.
  Values factors(NormScale scale) const {
    Values all = weight;
    if (scale == NormScale::one_plus_weight) {
      for (double& value : all) value += 1;
    }
    return all;
  }

  std::vector<Values> forward(Backend& backend, NormScale scale = NormScale::weight) const {
    const Tensor y = make_poisoned(backend, {rows, width}, dtype);
    const Tensor rstd = make_poisoned(backend, {rows}, DType::f32);
    backend.rms_norm_forward(on(backend, x), weight_on(backend), epsilon, y, rstd, scale);
    return {read_back(backend, y), read_back(backend, rstd)};
  }

  Values backward(Backend& backend, Write write, NormScale scale = NormScale::weight) const {
    const Tensor input = on(backend, x);
    const Tensor y = backend.allocate({rows, width}, dtype);
    const Tensor rstd = backend.allocate({rows}, DType::f32);
    backend.rms_norm_forward(input, weight_on(backend), epsilon, y, rstd);
    const Tensor dx =
        write == Write::overwrite ? make_poisoned(backend, {rows, width}, dtype) : on(backend, before);
    backend.rms_norm_backward(on(backend, dy), input, weight_on(backend), rstd, dx, write, scale);
    return read_back(backend, dx);
  }
};

}  // namespace

class TestRmsNorm : public KernelTest {
  Q_OBJECT
 private slots:
  void forward_equals_the_reference_data() { shapes(); }
  void forward_equals_the_reference() {
    QFETCH(int, rows);
    QFETCH(int, width);
    for (const DType dtype : compute_types()) {
      for (const NormScale scale : {NormScale::weight, NormScale::one_plus_weight}) {
        const Case c(rows, width, dtype);
        check_outputs([&](Backend& backend) { return c.forward(backend, scale); },
                      [&](const std::vector<Values>& got) {
                        const reference::Norm want =
                            reference::rms_norm_forward(c.x, c.factors(scale), epsilon);
                        Tolerance tolerance = tolerance_for(dtype, width);
                        // Rounded twice, as the contract says.
                        if (scale == NormScale::weight && dtype == DType::bf16) tolerance = {1e-6, 0x1p-7, 0};
                        if (scale == NormScale::weight && dtype == DType::f16) tolerance = {1e-6, 0x1p-10, 0};
                        compare(got[0], want.y, tolerance, "y");
                        compare(got[1], want.rstd, {0, 1e-6, 0}, "rstd");
                      });
      }
    }
  }

  void the_normalised_value_is_rounded_before_the_weight_in_16_bits() {
    for (const DType dtype : compute_types()) {
      const Case c(9, 40, dtype);
      const auto backend = test_backend(1);
      const std::vector<Values> got = c.forward(*backend);
      Values want(c.x.size());
      for (std::size_t i = 0; i < want.size(); ++i)
        want[i] = static_cast<double>(static_cast<float>(c.x[i]) * static_cast<float>(got[1][i / 40]));
      want = rounded(want, dtype);
      for (std::size_t i = 0; i < want.size(); ++i) want[i] *= c.weight[i % 40];
      QCOMPARE(got[0], rounded(want, dtype));
    }
  }

  void one_plus_weight_is_rounded_once_in_16_bits() {
    for (const DType dtype : compute_types()) {
      if (dtype == DType::f32) continue;
      const Case c(9, 40, dtype);
      const auto backend = test_backend(1);
      const std::vector<Values> got = c.forward(*backend, NormScale::one_plus_weight);
      Values want(c.x.size());
      for (std::size_t i = 0; i < want.size(); ++i) {
        const float n = static_cast<float>(c.x[i]) * static_cast<float>(got[1][i / 40]);
        want[i] = static_cast<double>(n * (1.0f + static_cast<float>(c.weight[i % 40])));
      }
      QCOMPARE(got[0], rounded(want, dtype));
    }
  }

  void columns_of_a_wider_buffer_are_taken_and_its_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, std::tuple{37, 3, 5}}) {
        const Case c(5, width, dtype);
        const auto wide = [&](const Values& values) {
          return make_wide(*backend, {c.rows, c.width}, dtype, values, before, after);
        };
        const WideTensor x = wide(c.x), y = wide(c.before), dy = wide(c.dy), dx = wide(c.before);
        const Tensor rstd = make_poisoned(*backend, {c.rows}, DType::f32);
        backend->rms_norm_forward(x.view, c.weight_on(*backend), epsilon, y.view, rstd);
        compare(read_wide(*backend, y), c.forward(*backend)[0], {0, 0x1p-7, 1e-6}, "y");
        backend->rms_norm_backward(dy.view, x.view, c.weight_on(*backend), rstd, dx.view, Write::accumulate);
        compare(read_wide(*backend, dx), c.backward(*backend, Write::accumulate), {0, 0x1p-7, 1e-6}, "dx");
      }
    }
  }

  void backward_equals_the_reference_data() { shapes(); }
  void backward_equals_the_reference() {
    QFETCH(int, rows);
    QFETCH(int, width);
    for (const DType dtype : compute_types()) {
      for (const NormScale scale : {NormScale::weight, NormScale::one_plus_weight}) {
        const Case c(rows, width, dtype);
        const Values want = reference::rms_norm_backward(c.dy, c.x, c.factors(scale), epsilon);
        check_outputs(
            [&](Backend& backend) {
              return std::vector<Values>{c.backward(backend, Write::overwrite, scale),
                                         c.backward(backend, Write::accumulate, scale)};
            },
            [&](const std::vector<Values>& got) {
              compare(got[0], want, tolerance_for(dtype, width), "dx");
              Values sum = want;
              for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += c.before[i];
              compare(got[1], sum, tolerance_for(dtype, width), "dx added");
            });
      }
    }
  }

  void backward_equals_finite_differences() {
    const Case c(3, 17, DType::f32);
    const Values slope = central_differences(
        [&](const Values& x) {
          return inner_product(reference::rms_norm_forward(x, c.weight, epsilon).y, c.dy);
        },
        c.x);
    compare(reference::rms_norm_backward(c.dy, c.x, c.weight, epsilon), slope, {1e-8, 0, 1e-7}, "reference");
    const auto backend = test_backend(1);
    compare(c.backward(*backend, Write::overwrite), slope, {1e-6, 0, 1e-5}, "operation");
  }

  void a_narrower_weight_norms_each_piece_of_a_row_by_itself() {
    const auto backend = test_backend(1);
    for (const DType dtype : compute_types()) {
      for (const auto& [pieces, width] : {std::tuple{4, 32}, std::tuple{3, 9}}) {
        const Case c(5 * pieces, width, dtype);  // the same numbers as rows of their own
        const std::vector<Values> want = c.forward(*backend);
        const Shape shape{5, pieces * width};
        const Tensor x = make_tensor(*backend, shape, dtype, c.x),
                     dy = make_tensor(*backend, shape, dtype, c.dy);
        const Tensor y = make_poisoned(*backend, shape, dtype);
        const Tensor rstd = make_poisoned(*backend, {c.rows}, DType::f32);
        backend->rms_norm_forward(x, c.weight_on(*backend), epsilon, y, rstd);
        QCOMPARE(read_back(*backend, y), want[0]);
        QCOMPARE(read_back(*backend, rstd), want[1]);
        backend->rms_norm_backward(dy, x, c.weight_on(*backend), rstd, dy, Write::overwrite);
        QCOMPARE(read_back(*backend, dy), c.backward(*backend, Write::overwrite));  // dx in the place of dy
        if (!backend->fuses_parts()) continue;
        const auto wide = [&](const Values& values) {
          return make_wide(*backend, shape, dtype, values, 8, 16);
        };
        const WideTensor from = wide(c.x), gradient = wide(c.dy), to = wide(c.before);
        backend->rms_norm_forward(from.view, c.weight_on(*backend), epsilon, to.view, rstd);
        QCOMPARE(read_wide(*backend, to), want[0]);
        backend->rms_norm_backward(gradient.view, from.view, c.weight_on(*backend), rstd, gradient.view,
                                   Write::overwrite);
        QCOMPARE(read_wide(*backend, gradient), c.backward(*backend, Write::overwrite));
      }
    }
  }

  void rows_of_zeros_stay_finite() {
    Case c(4, 33, DType::f32);
    c.x.assign(c.x.size(), 0.0);
    const auto backend = test_backend(1);
    QCOMPARE(c.forward(*backend)[0], Values(c.x.size(), 0.0));
    compare(c.backward(*backend, Write::overwrite),
            reference::rms_norm_backward(c.dy, c.x, c.weight, epsilon), tolerance_for(DType::f32, 33));
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor x = backend->allocate({4, 3}, DType::f32);
    const Tensor y = backend->allocate({4, 3}, DType::f32);
    const Tensor other = backend->allocate({4, 3}, DType::bf16);
    const Tensor weight = backend->allocate({3}, DType::f32);
    const Tensor wide = backend->allocate({4}, DType::f32);
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->rms_norm_forward(x, wide, epsilon, y, wide); }));
    QVERIFY(refused([&] { backend->rms_norm_forward(x, weight, epsilon, other, wide); }));
    QVERIFY(refused([&] { backend->rms_norm_forward(x, weight, epsilon, y, weight); }));
    QVERIFY(refused([&] { backend->rms_norm_forward(wide, weight, epsilon, y, wide); }));
    QVERIFY(refused([&] { backend->rms_norm_backward(other, x, weight, wide, y, Write::overwrite); }));
    QVERIFY(refused([&] { backend->rms_norm_backward(x, x, weight, TensorView(), y, Write::overwrite); }));
  }
};

QTEST_GUILESS_MAIN(TestRmsNorm)
#include "test_rms_norm.moc"
