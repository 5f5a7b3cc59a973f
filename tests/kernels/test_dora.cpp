// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>
#include <tuple>

#include "tests/kernels/kernel_test.h"
#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

constexpr WeightFormat all_formats[] = {WeightFormat::f32,        WeightFormat::bf16,       WeightFormat::f16,
                                        WeightFormat::nf4,        WeightFormat::nf4_single, WeightFormat::fp4,
                                        WeightFormat::fp4_single, WeightFormat::int8};

/// A branch on a back end and in the reference.
struct Branch {
  Tensor a, b;
  reference::Lora lora;
  Branch(Backend& backend, std::int64_t out, std::int64_t in, std::int64_t rank, double scale) {
    lora = {rounded(random_values(rank * in, 31), DType::f32),
            rounded(random_values(out * rank, 32, 0.2), DType::f32), rank, scale};
    a = make_tensor(backend, {rank, in}, DType::f32, lora.a);
    b = make_tensor(backend, {out, rank}, DType::f32, lora.b);
  }
  LoraTerm term() const { return {a, b, static_cast<float>(lora.scale), {}}; }
};

}  // namespace

class TestDora : public KernelTest {
  Q_OBJECT
 private slots:
  void norms_and_gains_are_those_of_the_weight_with_its_branch_data() {
    QTest::addColumn<int>("out");
    QTest::addColumn<int>("in");
    QTest::addColumn<int>("rank");
    for (const auto& [out, in, rank] :
         {std::tuple{1, 1, 1}, {5, 64, 0}, {16, 37, 3}, {33, 192, 8}, {18, 300, 32}})
      QTest::addRow("%d x %d, rank %d", out, in, rank) << out << in << rank;
  }
  void norms_and_gains_are_those_of_the_weight_with_its_branch() {
    QFETCH(int, out);
    QFETCH(int, in);
    QFETCH(int, rank);
    const Values magnitude = rounded(random_values(out, 33), DType::f32);
    for (const WeightFormat format : all_formats) {
      Values norms;
      check_outputs(
          [&](Backend& backend) {
            const Weight weight = random_weight(backend, format, out, in, 30, true);
            const Branch branch(backend, out, in, std::max(rank, 1), 0.5);
            const LoraTerm term = branch.term();
            norms = reference::row_norms(values_of(backend, weight, DType::f32),
                                         rank > 0 ? &branch.lora : nullptr, out, in);
            const Tensor m = make_tensor(backend, {out}, DType::f32, magnitude);
            const Tensor got = make_poisoned(backend, {out}, DType::f32),
                         gain = make_poisoned(backend, {out}, DType::f32);
            const Tensor alone = make_poisoned(backend, {out}, DType::f32);
            backend.row_norms(weight, rank > 0 ? &term : nullptr, got, m, gain);
            backend.row_norms(weight, rank > 0 ? &term : nullptr, alone);
            return std::vector<Values>{read_back(backend, got), read_back(backend, gain),
                                       read_back(backend, alone)};
          },
          [&](const std::vector<Values>& got) {
            Values gain = magnitude;
            for (std::size_t i = 0; i < gain.size(); ++i) gain[i] /= norms[i];
            compare(got[0], norms, {0, 2e-6, 0}, "norms");
            compare(got[1], gain, {0, 3e-6, 0}, "gain");
            QCOMPARE(got[2], got[0]);
          });
    }
  }

  void a_row_of_zeros_has_no_gain_and_no_gradient() {
    const auto backend = test_backend(1);
    const auto read = [](std::int64_t first, std::span<float> to) {
      for (std::size_t i = 0; i < to.size(); ++i)
        to[i] = first + static_cast<std::int64_t>(i) < 64 ? 0.0f : 1.0f;
    };
    const Weight weight = make_weight(*backend, WeightFormat::f32, 2, 64, read, "w");
    const Tensor norms = make_poisoned(*backend, {2}, DType::f32),
                 gain = make_poisoned(*backend, {2}, DType::f32);
    backend->row_norms(weight, nullptr, norms, make_tensor(*backend, {2}, DType::f32, {0, 4}), gain);
    QCOMPARE(read_back(*backend, norms), (Values{0, 8}));
    QCOMPARE(read_back(*backend, gain), (Values{0, 0.5}));
    const Tensor gradient = make_tensor(*backend, {2}, DType::f32, {1, 1});
    const Tensor dy = make_tensor(*backend, {1, 2}, DType::f32, {3, 4});
    backend->scale_columns_backward(dy, dy, gain, norms, gradient, dy);
    QCOMPARE(read_back(*backend, gradient), (Values{1, 3}));
    QCOMPARE(read_back(*backend, dy), (Values{0, 2}));
  }

  void columns_are_scaled_data() { shapes(); }
  void columns_are_scaled() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const Values gain = rounded(random_values(width, 2), DType::f32),
                 bias = rounded(random_values(width, 3), DType::f32);
    for (const DType dtype : compute_types()) {
      const Values z = rounded(random_values(rows * width, 4), dtype);
      const Values residual = rounded(random_values(rows * width, 5), dtype);
      check_outputs(
          [&](Backend& backend) {
            const Tensor zt = make_tensor(backend, {rows, width}, dtype, z);
            const Tensor rt = make_tensor(backend, {rows, width}, dtype, residual);
            const Tensor g = make_tensor(backend, {width}, DType::f32, gain),
                         b = make_tensor(backend, {width}, DType::f32, bias);
            const Tensor plain = make_poisoned(backend, {rows, width}, dtype);
            backend.scale_columns(zt, g, {}, {}, plain);
            backend.scale_columns(zt, g, b, rt, rt);  // over the residual
            backend.scale_columns(zt, g, b, {}, zt);  // in place
            return std::vector<Values>{read_back(backend, plain), read_back(backend, rt),
                                       read_back(backend, zt)};
          },
          [&](const std::vector<Values>& got) {
            const Tolerance tolerance = tolerance_for(dtype, 3);
            compare(got[0], reference::scale_columns(z, gain, {}, {}), tolerance, "z o gain");
            compare(got[1], reference::scale_columns(z, gain, bias, residual), tolerance,
                    "with bias and residual");
            compare(got[2], reference::scale_columns(z, gain, bias, {}), tolerance, "with bias");
          });
    }
  }

  void gradients_of_scaled_columns_data() { shapes(); }
  void gradients_of_scaled_columns() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const Values gain = rounded(random_values(width, 2), DType::f32), before = random_values(width, 6);
    Values norms = rounded(random_values(width, 7), DType::f32);
    for (double& norm : norms) norm = std::abs(norm) + 0.25;
    for (const DType dtype : compute_types()) {
      const Values z = rounded(random_values(rows * width, 4), dtype);
      const Values dy = rounded(random_values(rows * width, 5), dtype);
      check_outputs(
          [&](Backend& backend) {
            std::vector<Values> outputs;
            for (const int target : {0, 1, 2}) {  // elsewhere, over dy, over z
              const Tensor zt = make_tensor(backend, {rows, width}, dtype, z),
                           d = make_tensor(backend, {rows, width}, dtype, dy);
              const Tensor other = make_poisoned(backend, {rows, width}, dtype);
              const Tensor gradient = make_tensor(backend, {width}, DType::f32, before);
              const TensorView dz = target == 0 ? other.view() : target == 1 ? d.view() : zt.view();
              backend.scale_columns_backward(d, zt, make_tensor(backend, {width}, DType::f32, gain),
                                             make_tensor(backend, {width}, DType::f32, norms), gradient, dz);
              outputs.push_back(read_back(backend, gradient));
              outputs.push_back(read_back(backend, dz));
            }
            return outputs;
          },
          [&](const std::vector<Values>& got) {
            const auto want = reference::scale_columns_backward(dy, z, gain, norms);
            Values gradient = rounded(before, DType::f32);
            for (std::size_t i = 0; i < gradient.size(); ++i) gradient[i] += want.gradient[i];
            for (std::size_t i = 0; i < got.size(); i += 2) {
              compare(got[i], gradient, tolerance_for(DType::f32, rows), "gradient of m");
              compare(got[i + 1], want.dz, tolerance_for(dtype, 1), "dz");
            }
          });
    }
  }

  /// y = (m / n) o z with n held: the gradient of m and z against differences of the double reference.
  void the_reference_gradient_is_that_of_differences() {
    const Values z = random_values(3 * 5, 4), dy = random_values(3 * 5, 5), m = random_values(5, 6);
    const Values norms = {0.5, 1, 2, 0.7, 3};
    const auto gain_of = [&](const Values& magnitude) {
      Values gain = magnitude;
      for (std::size_t i = 0; i < gain.size(); ++i) gain[i] /= norms[i];
      return gain;
    };
    const auto got = reference::scale_columns_backward(dy, z, gain_of(m), norms);
    const auto of_m = [&](const Values& magnitude) {
      return inner_product(dy, reference::scale_columns(z, gain_of(magnitude), {}, {}));
    };
    const auto of_z = [&](const Values& at) {
      return inner_product(dy, reference::scale_columns(at, gain_of(m), {}, {}));
    };
    compare(got.gradient, central_differences(of_m, m), {1e-8, 1e-8, 0}, "m");
    compare(got.dz, central_differences(of_z, z), {1e-8, 1e-8, 0}, "z");
  }

  void rows_of_every_format_are_read_as_stored() {
    const auto backend = test_backend(2);
    for (const WeightFormat format : all_formats) {
      for (const auto& [out, in] : {std::pair{21, 64}, {7, 37}}) {
        const Weight weight = random_weight(*backend, format, out, in, 40);
        const Values all = values_of(*backend, weight, DType::f32);
        for (const auto& [first, count] : {std::pair{0, out}, {3, 2}, {out - 1, 1}}) {
          const Tensor rows = make_poisoned(*backend, {count, in}, DType::f32);
          backend->dequantize_rows(weight, first, rows);
          QCOMPARE(read_back(*backend, rows),
                   Values(all.begin() + first * in, all.begin() + (first + count) * in));
        }
      }
    }
  }

  void columns_of_a_wider_buffer_are_scaled_and_their_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, {37, 3, 5}}) {
        const Values z = rounded(random_values(5 * width, 1), dtype),
                     dy = rounded(random_values(5 * width, 2), dtype);
        const Values gain = rounded(random_values(width, 3), DType::f32),
                     norms(static_cast<std::size_t>(width), 2.0);
        const WideTensor zt = make_wide(*backend, {5, width}, dtype, z, before, after);
        const WideTensor d = make_wide(*backend, {5, width}, dtype, dy, after, before);
        const WideTensor y = make_wide(*backend, {5, width}, dtype, dy, before, before);
        const Tensor g = make_tensor(*backend, {width}, DType::f32, gain),
                     n = make_tensor(*backend, {width}, DType::f32, norms);
        const Tensor gradient =
            make_tensor(*backend, {width}, DType::f32, Values(static_cast<std::size_t>(width), 0.0));
        backend->scale_columns(zt.view, g, {}, d.view, y.view);
        compare(read_wide(*backend, y), reference::scale_columns(z, gain, {}, dy), tolerance_for(dtype, 2),
                "y");
        backend->scale_columns_backward(d.view, zt.view, g, n, gradient, d.view);
        const auto want = reference::scale_columns_backward(dy, z, gain, norms);
        compare(read_wide(*backend, d), want.dz, tolerance_for(dtype, 1), "dz");
        compare(read_back(*backend, gradient), want.gradient, tolerance_for(DType::f32, 5), "gradient");
        QCOMPARE(read_wide(*backend, zt), z);
      }
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Weight weight = random_weight(*backend, WeightFormat::nf4, 64, 128, 3);
    const Branch branch(*backend, 64, 128, 4, 1), other(*backend, 64, 96, 4, 1);
    const Tensor n = make_poisoned(*backend, {64}, DType::f32),
                 few = make_poisoned(*backend, {63}, DType::f32);
    const Tensor z = make_poisoned(*backend, {4, 64}, DType::f32),
                 narrow = make_poisoned(*backend, {4, 63}, DType::f32);
    const Tensor rows = make_poisoned(*backend, {8, 128}, DType::f32);
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    const LoraTerm good = branch.term(), bad = other.term();
    QVERIFY(!refused([&] { backend->row_norms(weight, &good, n); }));
    QVERIFY(refused([&] { backend->row_norms(weight, &bad, n); }));
    QVERIFY(refused([&] { backend->row_norms(weight, &good, few); }));
    QVERIFY(refused([&] { backend->row_norms(weight, &good, n, n); }));
    QVERIFY(refused([&] { backend->scale_columns(z, few, {}, {}, z); }));
    QVERIFY(refused([&] { backend->scale_columns(z, n, few, {}, z); }));
    QVERIFY(refused([&] { backend->scale_columns(z, n, {}, narrow, z); }));
    QVERIFY(refused([&] { backend->scale_columns(z, n, {}, {}, narrow); }));
    QVERIFY(refused([&] { backend->scale_columns_backward(z, narrow, n, n, n, z); }));
    QVERIFY(refused([&] { backend->scale_columns_backward(z, z, n, few, n, z); }));
    QVERIFY(!refused([&] { backend->dequantize_rows(weight, 56, rows); }));
    QVERIFY(refused([&] { backend->dequantize_rows(weight, 57, rows); }));
    QVERIFY(refused([&] { backend->dequantize_rows(weight, -1, rows); }));
    QVERIFY(refused([&] { backend->dequantize_rows(weight, 0, z); }));
  }
};

QTEST_GUILESS_MAIN(TestDora)
#include "test_dora.moc"
