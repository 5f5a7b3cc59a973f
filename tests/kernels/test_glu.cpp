// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <tuple>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Case {
  Shape shape;
  DType dtype;
  Values gate, up, dh;
  Case(std::int64_t rows, std::int64_t width, DType dtype_)
      : shape{rows, width},
        dtype(dtype_),
        gate(rounded(random_values(rows * width, 1, 3.0), dtype_)),
        up(rounded(random_values(rows * width, 2), dtype_)),
        dh(rounded(random_values(rows * width, 3), dtype_)) {}

  Tensor on(Backend& backend, const Values& values) const {
    return make_tensor(backend, shape, dtype, values);
  }

  std::vector<Values> run(Backend& backend, Activation f = Activation::silu) const {
    const Tensor h = make_poisoned(backend, shape, dtype);
    backend.glu_forward(on(backend, gate), on(backend, up), h, f);
    const Tensor dgate = make_poisoned(backend, shape, dtype);
    const Tensor dup = make_poisoned(backend, shape, dtype);
    const Tensor again = make_poisoned(backend, shape, dtype);
    backend.glu_backward(on(backend, dh), on(backend, gate), on(backend, up), dgate, dup, again, f);
    return {read_back(backend, h), read_back(backend, dgate), read_back(backend, dup),
            read_back(backend, again)};
  }
};

}  // namespace

class TestGlu : public KernelTest {
  Q_OBJECT
 private slots:
  void forward_and_backward_equal_the_reference_data() { shapes(); }
  void forward_and_backward_equal_the_reference() {
    QFETCH(int, rows);
    QFETCH(int, width);
    for (const DType dtype : compute_types()) {
      for (const Activation f : {Activation::silu, Activation::gelu}) {
        const Case c(rows, width, dtype);
        const bool gelu = f == Activation::gelu;
        check_outputs([&](Backend& backend) { return c.run(backend, f); },
                      [&](const std::vector<Values>& got) {
                        const auto want = reference::glu_backward(c.dh, c.gate, c.up, gelu);
                        compare(got[0], reference::glu_forward(c.gate, c.up, gelu), tolerance_for(dtype, 1),
                                "h");
                        compare(got[1], want.dgate, tolerance_for(dtype, 1), "dgate");
                        compare(got[2], want.dup, tolerance_for(dtype, 1), "dup");
                        QCOMPARE(got[3], got[0]);
                      });
      }
    }
  }

  void columns_of_a_wider_buffer_are_taken_and_its_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, std::tuple{37, 3, 5}}) {
        const Case c(5, width, dtype);
        const std::vector<Values> want = c.run(*backend);
        const auto wide = [&](const Values& values) {
          return make_wide(*backend, c.shape, dtype, values, before, after);
        };
        const WideTensor gate = wide(c.gate), up = wide(c.up), dh = wide(c.dh), h = wide(c.dh),
                         again = wide(c.dh);
        backend->glu_forward(gate.view, up.view, h.view);
        QCOMPARE(read_wide(*backend, h), want[0]);
        backend->glu_backward(dh.view, gate.view, up.view, gate.view, up.view, again.view);
        QCOMPARE(read_wide(*backend, gate), want[1]);
        QCOMPARE(read_wide(*backend, up), want[2]);
        QCOMPARE(read_wide(*backend, again), want[0]);
      }
    }
  }

  void gradients_may_overwrite_the_inputs_and_h_may_be_left_out() {
    for (const DType dtype : compute_types()) {
      const Case c(5, 37, dtype);
      const auto backend = test_backend(2);
      const std::vector<Values> want = c.run(*backend);
      const Tensor gate = c.on(*backend, c.gate);
      const Tensor up = c.on(*backend, c.up);
      backend->glu_backward(c.on(*backend, c.dh), gate, up, gate, up, TensorView());
      QCOMPARE(read_back(*backend, gate), want[1]);
      QCOMPARE(read_back(*backend, up), want[2]);
    }
  }

  void backward_equals_finite_differences() {
    const Case c(2, 9, DType::f32);
    for (const Activation f : {Activation::silu, Activation::gelu}) {
      const auto loss = [&](const Values& gate, const Values& up) {
        return inner_product(reference::glu_forward(gate, up, f == Activation::gelu), c.dh);
      };
      const Values dgate = central_differences([&](const Values& gate) { return loss(gate, c.up); }, c.gate);
      const Values dup = central_differences([&](const Values& up) { return loss(c.gate, up); }, c.up);
      const auto backend = test_backend(1);
      const std::vector<Values> got = c.run(*backend, f);
      compare(got[1], dgate, {1e-6, 1e-5, 0}, "dgate");
      compare(got[2], dup, {1e-6, 1e-5, 0}, "dup");
    }
  }

  void large_gates_neither_overflow_nor_turn_into_nan() {
    Case c(1, 8, DType::f32);
    c.gate = {-1e4, -200, -90, -87, 87, 90, 200, 1e4};
    c.up = Values(8, 2.0);
    c.dh = Values(8, 1.0);
    const auto backend = test_backend(1);
    for (const Activation f : {Activation::silu, Activation::gelu}) {
      const bool gelu = f == Activation::gelu;
      const std::vector<Values> got = c.run(*backend, f);
      const reference::GluGradients want = reference::glu_backward(c.dh, c.gate, c.up, gelu);
      compare(got[0], reference::glu_forward(c.gate, c.up, gelu), {1e-30, 1e-6, 0}, "h");
      compare(got[1], want.dgate, {1e-30, 1e-6, 0}, "dgate");
      compare(got[2], want.dup, {1e-30, 1e-6, 0}, "dup");
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor a = backend->allocate({2, 3}, DType::f32);
    const Tensor wide = backend->allocate({2, 4}, DType::f32);
    const Tensor other = backend->allocate({2, 3}, DType::bf16);
    const Tensor half = backend->allocate({2, 3}, DType::f16);
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->glu_forward(a, wide, a); }));
    QVERIFY(refused([&] { backend->glu_forward(a, other, a); }));
    if (!backend->supports(DType::f16)) QVERIFY(refused([&] { backend->glu_forward(half, half, half); }));
    const Tensor bytes = backend->allocate({2, 3}, DType::u8);
    QVERIFY(refused([&] { backend->glu_forward(bytes, bytes, bytes); }));
    QVERIFY(refused([&] { backend->glu_backward(wide, a, a, a, a, TensorView()); }));
    QVERIFY(refused([&] { backend->glu_backward(a, a, a, a, a, other); }));
    QVERIFY(refused([&] { backend->glu_backward(a, a, a, TensorView(), a, TensorView()); }));
  }
};

QTEST_GUILESS_MAIN(TestGlu)
#include "test_glu.moc"
