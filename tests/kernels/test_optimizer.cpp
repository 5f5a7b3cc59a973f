// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>

#include "kernels/dynamic_map.h"
#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

const AdamStep step_numbers{.learning_rate = 2e-3f, .weight_decay = 0.01f, .step = 3, .gradient_scale = 0.5f};

reference::Adam as_double(const AdamStep& s) {
  return {static_cast<double>(s.learning_rate),
          static_cast<double>(s.beta1),
          static_cast<double>(s.beta2),
          static_cast<double>(s.epsilon),
          static_cast<double>(s.weight_decay),
          static_cast<double>(s.gradient_scale),
          s.step};
}

Values to_values(const std::vector<std::uint8_t>& codes) {
  return Values(codes.begin(), codes.end());
}

}  // namespace

class TestOptimizer : public KernelTest {
  Q_OBJECT
  static void sizes() {
    QTest::addColumn<int>("count");
    for (const int count : {1, 3, 7, 17, 33, 65, 255, 256, 257, 5000, 70001})
      QTest::addRow("%d elements", count) << count;
  }

 private slots:
  void squares_are_summed_in_fixed_order_data() { sizes(); }
  void squares_are_summed_in_fixed_order() {
    QFETCH(int, count);
    const Values x = rounded(random_values(count, 1, 10), DType::f32);
    check_outputs(
        [&](Backend& backend) {
          const Tensor sum = make_tensor(backend, {1}, DType::f64, {2.5});
          backend.sum_of_squares(make_tensor(backend, {count}, DType::f32, x), sum);
          return std::vector<Values>{read_back(backend, sum)};
        },
        [&](const std::vector<Values>& got) {
          compare(got[0], {2.5 + reference::sum_of_squares(x)}, {0, 1e-12, 0});
        });
  }

  void squares_of_huge_and_tiny_values_are_exact_in_double() {
    const auto backend = test_backend(1);
    const Tensor sum = make_tensor(*backend, {1}, DType::f64, {0});
    backend->sum_of_squares(make_tensor(*backend, {3}, DType::f32, {0x1p100, 0x1p-100, 0}), sum);
    QCOMPARE(read_back(*backend, sum)[0], 0x1p200);
    const Tensor other = make_tensor(*backend, {1}, DType::f64, {0});
    backend->sum_of_squares(make_tensor(*backend, {1}, DType::f32, {std::nan("")}), other);
    QVERIFY(std::isnan(read_back(*backend, other)[0]));
  }

  void adamw_equals_the_reference_data() { sizes(); }
  void adamw_equals_the_reference() {
    QFETCH(int, count);
    const Values p = rounded(random_values(count, 1), DType::f32);
    const Values g = rounded(random_values(count, 2, 0.01), DType::f32);
    const Values m = rounded(random_values(count, 3, 0.01), DType::f32);
    Values v = rounded(random_values(count, 4, 0.01), DType::f32);
    for (double& value : v) value *= value;
    v = rounded(v, DType::f32);
    for (const bool decay_last : {false, true}) {
      AdamStep step = step_numbers;
      step.decay_last = decay_last;
      check_outputs(
          [&](Backend& backend) {
            const Tensor tp = make_tensor(backend, {count}, DType::f32, p);
            const Tensor tm = make_tensor(backend, {count}, DType::f32, m);
            const Tensor tv = make_tensor(backend, {count}, DType::f32, v);
            backend.adamw(tp, make_tensor(backend, {count}, DType::f32, g), tm, tv, step);
            return std::vector<Values>{read_back(backend, tp), read_back(backend, tm),
                                       read_back(backend, tv)};
          },
          [&](const std::vector<Values>& got) {
            Values want_p = p;
            Values want_m = m;
            Values want_v = v;
            reference::Adam adam = as_double(step);
            if (decay_last) adam.weight_decay = 0;
            reference::adamw(want_p, g, want_m, want_v, adam);
            if (decay_last) {
              for (double& value : want_p)
                value *= 1 - as_double(step).learning_rate * as_double(step).weight_decay;
            }
            compare(got[0], want_p, {1e-7, 1e-6, 0}, "p");
            compare(got[1], want_m, {1e-9, 1e-6, 0}, "m");
            compare(got[2], want_v, {1e-12, 1e-6, 0}, "v");
          });
    }
  }

  void adamw_8bit_equals_the_reference_over_three_steps_data() { sizes(); }
  void adamw_8bit_equals_the_reference_over_three_steps() {
    QFETCH(int, count);
    const std::int64_t blocks = (count + 255) / 256;
    const Values p = rounded(random_values(count, 1), DType::f32);
    check_outputs(
        [&](Backend& backend) {
          const Tensor tp = make_tensor(backend, {count}, DType::f32, p);
          const Values zeros(static_cast<std::size_t>(count), 0.0);
          const Values no_blocks(static_cast<std::size_t>(blocks), 0.0);
          const Tensor mc = make_tensor(backend, {count}, DType::u8, zeros);
          const Tensor vc = make_tensor(backend, {count}, DType::u8, zeros);
          const Tensor ma = make_tensor(backend, {blocks}, DType::f32, no_blocks);
          const Tensor va = make_tensor(backend, {blocks}, DType::f32, no_blocks);
          std::vector<Values> outputs;
          for (int step = 1; step <= 3; ++step) {
            AdamStep numbers = step_numbers;
            numbers.step = step;
            const Values g = random_values(count, static_cast<std::uint64_t>(10 + step), 0.1);
            backend.adamw_8bit(tp, make_tensor(backend, {count}, DType::f32, g), {mc, vc, ma, va}, numbers);
            for (const Tensor* tensor : {&tp, &mc, &vc, &ma, &va})
              outputs.push_back(read_back(backend, *tensor));
          }
          return outputs;
        },
        [&](const std::vector<Values>& got) {
          Values want_p = p;
          reference::Adam8bit state;
          state.m_codes.assign(static_cast<std::size_t>(count), 0);
          state.v_codes = state.m_codes;
          state.m_absmax.assign(static_cast<std::size_t>(blocks), 0.0);
          state.v_absmax = state.m_absmax;
          for (int step = 1; step <= 3; ++step) {
            reference::Adam adam = as_double(step_numbers);
            adam.step = step;
            const Values g =
                rounded(random_values(count, static_cast<std::uint64_t>(10 + step), 0.1), DType::f32);
            Values nearness;
            reference::adamw_8bit(want_p, g, state, adam, &nearness);
            const std::size_t at = static_cast<std::size_t>(step - 1) * 5;
            compare(got[at], want_p, {2e-6, 1e-5, 0}, "p");
            compare(got[at + 3], state.m_absmax, {1e-8, 1e-5, 0}, "m_absmax");
            compare(got[at + 4], state.v_absmax, {0, 1e-5, 0}, "v_absmax");
            for (std::size_t i = 0; i < nearness.size(); ++i) {
              if (nearness[i] < 1e-6) {  // on an edge f32 may take either code; go on from what it took
                state.m_codes[i] = static_cast<std::uint8_t>(got[at + 1][i]);
                state.v_codes[i] = static_cast<std::uint8_t>(got[at + 2][i]);
              }
            }
            QCOMPARE(got[at + 1], to_values(state.m_codes));
            QCOMPARE(got[at + 2], to_values(state.v_codes));
          }
        });
  }

  void a_device_gives_the_bits_of_the_processor_data() {
    // Whole vectors: in what is left of one, the processor's compiler fuses the other product of a sum.
    QTest::addColumn<int>("count");
    for (const int count : {16, 256, 4112, 70016}) QTest::addRow("%d elements", count) << count;
  }
  void a_device_gives_the_bits_of_the_processor() {
    QFETCH(int, count);
    const auto device = test_backend(1);
    if (!device->asynchronous()) QSKIP("this back end is the processor");
    const auto processor = processor_backend(0);
    if (!processor) QSKIP("this program has no back end of the processor");
    if (processor->device().instruction_set == "x86-64-v2") QSKIP("this processor has no fused operations");
    const std::int64_t blocks = (count + 255) / 256;
    const auto run = [&](Backend& backend) {
      const auto zeros = [&](std::int64_t n, DType dtype) {
        return make_tensor(backend, {n}, dtype, Values(static_cast<std::size_t>(n), 0.0));
      };
      const Tensor p = make_tensor(backend, {count}, DType::f32, random_values(count, 1));
      const Tensor q = make_tensor(backend, {count}, DType::f32, random_values(count, 2));
      const Tensor m = zeros(count, DType::f32), v = zeros(count, DType::f32);
      const Tensor mc = zeros(count, DType::u8), vc = zeros(count, DType::u8);
      const Tensor ma = zeros(blocks, DType::f32), va = zeros(blocks, DType::f32);
      std::vector<std::vector<std::uint8_t>> bytes;
      for (int step = 1; step <= 3; ++step) {
        AdamStep numbers = step_numbers;
        numbers.step = step;
        numbers.decay_last = step == 2;
        const Tensor g = make_tensor(backend, {count}, DType::f32,
                                     random_values(count, static_cast<std::uint64_t>(10 + step)));
        backend.adamw(p, g, m, v, numbers);
        backend.adamw_8bit(q, g, {mc, vc, ma, va}, numbers);
        for (const Tensor* tensor : {&p, &m, &v, &q, &mc, &vc, &ma, &va})
          bytes.push_back(read_bytes(backend, *tensor));
      }
      return bytes;
    };
    const auto got = run(*device), want = run(*processor);
    for (std::size_t i = 0; i < want.size(); ++i) {
      for (std::size_t at = 0; at < want[i].size(); ++at) {
        if (got[i][at] != want[i][at]) {
          QFAIL(qPrintable(QString("step %1, output %2, byte %3: %4 where %5 is expected")
                               .arg(i / 8 + 1)
                               .arg(i % 8)
                               .arg(at)
                               .arg(got[i][at])
                               .arg(want[i][at])));
        }
      }
    }
  }

  void elements_without_a_finite_gradient_stay_untouched() {
    const auto backend = test_backend(1);
    const double inf = std::numeric_limits<double>::infinity();
    const Tensor p = make_tensor(*backend, {4}, DType::f32, {1, 2, 3, 4});
    const Tensor mc = make_tensor(*backend, {4}, DType::u8, {200, 200, 200, 200});
    const Tensor vc = make_tensor(*backend, {4}, DType::u8, {200, 200, 200, 200});
    const Tensor ma = make_tensor(*backend, {1}, DType::f32, {0.1});
    const Tensor va = make_tensor(*backend, {1}, DType::f32, {0.1});
    backend->adamw_8bit(p, make_tensor(*backend, {4}, DType::f32, {std::nan(""), inf, 0.5, -inf}),
                        {mc, vc, ma, va}, step_numbers);
    const Values got = read_back(*backend, p);
    QCOMPARE(got[0], 1.0);
    QCOMPARE(got[1], 2.0);
    QVERIFY(got[2] != 3.0 && std::isfinite(got[2]));
    QCOMPARE(got[3], 4.0);
    QCOMPARE(read_back(*backend, mc), (Values{127, 127, 255, 127}));
    QCOMPARE(read_back(*backend, vc), (Values{0, 0, 255, 0}));
  }

  void every_8bit_code_survives_a_step_that_changes_nothing() {
    // beta 1 keeps the moments, so each code must come back as itself (0.0 of the negative side excepted).
    const auto backend = test_backend(1);
    Values codes(256);
    for (std::size_t i = 0; i < 256; ++i) codes[i] = static_cast<double>(i);
    const Tensor p = make_tensor(*backend, {256}, DType::f32, Values(256, 0.0));
    const Tensor g = make_tensor(*backend, {256}, DType::f32, Values(256, 0.0));
    const Tensor mc = make_tensor(*backend, {256}, DType::u8, codes);
    const Tensor vc = make_tensor(*backend, {256}, DType::u8, codes);
    const Tensor ma = make_tensor(*backend, {1}, DType::f32, {0.37});
    const Tensor va = make_tensor(*backend, {1}, DType::f32, {0.0123});
    AdamStep step;
    step.beta1 = 1;
    step.beta2 = 1;
    backend->adamw_8bit(p, g, {mc, vc, ma, va}, step);
    QCOMPARE(read_back(*backend, mc), codes);
    QCOMPARE(read_back(*backend, vc), codes);
  }

  void codes_found_by_bucket_are_the_nearest_entries() {
    // One element of size 1 fixes absmax; the others walk through the map, its midpoints and their
    // neighbours.
    const auto backend = test_backend(1);
    for (const bool is_signed : {true, false}) {
      const DynamicMap& map = is_signed ? signed_dynamic_map() : unsigned_dynamic_map();
      std::vector<float> values;
      for (std::size_t i = 0; i + 1 < map.size(); ++i) {
        const float middle = (map[i] + map[i + 1]) * 0.5f;
        for (const float value :
             {map[i], middle, std::nextafter(middle, -2.0f), std::nextafter(middle, 2.0f)}) {
          values.push_back(value);
        }
      }
      for (float value = 1e-9f; value < 1; value *= 1.003f) values.push_back(value);
      if (is_signed) {
        for (float value = 1e-9f; value < 1; value *= 1.003f) values.push_back(-value);
      }
      const std::size_t blocks = (values.size() + 254) / 255;
      for (std::size_t block = 0; block < blocks; ++block) {
        Values gradient(256, 0.0);
        gradient[0] = 1;
        std::vector<std::uint8_t> want(256, nearest_in_map(map, 0.0f));
        want[0] = 255;
        for (std::size_t i = 1; i < 256 && block * 255 + i - 1 < values.size(); ++i) {
          const float value = values[block * 255 + i - 1];
          // The second moment sees squares; take roots so that it lands on the value when the root is exact.
          gradient[i] = is_signed ? static_cast<double>(value) : std::sqrt(static_cast<double>(value));
          const auto f = static_cast<float>(gradient[i]);
          want[i] = nearest_in_map(map, is_signed ? f : f * f);
          if (is_signed && want[i] == 127 && value < 0) want[i] = 126;
        }
        const Tensor p = make_tensor(*backend, {256}, DType::f32, Values(256, 0.0));
        const Tensor mc = make_tensor(*backend, {256}, DType::u8, Values(256, 0.0));
        const Tensor vc = make_tensor(*backend, {256}, DType::u8, Values(256, 0.0));
        const Tensor ma = make_tensor(*backend, {1}, DType::f32, {0});
        const Tensor va = make_tensor(*backend, {1}, DType::f32, {0});
        AdamStep step;
        step.beta1 = 0;
        step.beta2 = 0;
        backend->adamw_8bit(p, make_tensor(*backend, {256}, DType::f32, gradient), {mc, vc, ma, va}, step);
        QCOMPARE(read_back(*backend, is_signed ? mc : vc), to_values(want));
      }
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor n = make_tensor(*backend, {300}, DType::f32, Values(300, 0.0));
    const Tensor other = make_tensor(*backend, {301}, DType::f32, Values(301, 0.0));
    const Tensor half = make_tensor(*backend, {300}, DType::bf16, Values(300, 0.0));
    const Tensor codes = make_tensor(*backend, {300}, DType::u8, Values(300, 0.0));
    const Tensor blocks = make_tensor(*backend, {2}, DType::f32, {0, 0});
    const Tensor sum = make_tensor(*backend, {1}, DType::f64, {0});
    AdamStep zeroth = step_numbers;
    zeroth.step = 0;
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    QVERIFY(refused([&] { backend->sum_of_squares(half, sum); }));
    QVERIFY(refused([&] { backend->sum_of_squares(n, blocks); }));
    QVERIFY(refused([&] { backend->adamw(half, n, n, n, step_numbers); }));
    QVERIFY(refused([&] { backend->adamw(n, other, n, n, step_numbers); }));
    QVERIFY(refused([&] { backend->adamw(n, n, other, n, step_numbers); }));
    QVERIFY(refused([&] { backend->adamw(n, n, n, n, zeroth); }));
    QVERIFY(refused([&] { backend->adamw_8bit(n, n, {n, codes, blocks, blocks}, step_numbers); }));
    QVERIFY(refused([&] { backend->adamw_8bit(n, n, {codes, codes, sum, blocks}, step_numbers); }));
    QVERIFY(refused([&] {
      backend->adamw_8bit(other, other, {codes, codes, blocks, blocks}, step_numbers);
    }));
    QVERIFY(refused([&] { backend->adamw_8bit(n, n, {codes, codes, blocks, blocks}, zeroth); }));
  }
};

QTEST_GUILESS_MAIN(TestOptimizer)
#include "test_optimizer.moc"
