// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>

#include "tests/kernels/kernel_test.h"

using namespace lorikeet;
using namespace lorikeet::testing;

class TestRows : public KernelTest {
  Q_OBJECT
 private slots:
  void memory_is_aligned_and_counted() {
    const auto backend = test_backend(1);
    const std::uint64_t before = backend->budget().used_bytes();
    {
      const Tensor a = backend->allocate({3, 5}, DType::bf16);
      QCOMPARE(reinterpret_cast<std::uintptr_t>(a.view().data) % 64, std::uintptr_t{0});
      QCOMPARE(backend->budget().used_bytes() - before, std::uint64_t{30});
      QVERIFY(!backend->allocate({0, 5}, DType::f32));
    }
    QCOMPARE(backend->budget().used_bytes(), before);
  }

  void memory_above_the_limit_is_refused() {
    const auto backend = processor_backend(1000);
    if (!backend) QSKIP("this program has no back end of the processor");
    QVERIFY(throws([&] { backend->allocate({1001}, DType::u8); }, ErrorCode::out_of_memory));
    QVERIFY(backend->allocate({1000}, DType::u8));
  }

  void copies_convert_between_all_float_types_data() {
    QTest::addColumn<int>("count");
    for (const int count : {1, 3, 7, 17, 33, 65, 70001}) QTest::addRow("%d elements", count) << count;
  }
  void copies_convert_between_all_float_types() {
    QFETCH(int, count);
    Values values = random_values(count, 1);
    if (count > 17) values[16] = std::numeric_limits<double>::infinity();
    for (const DType from : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
      for (const DType to : {DType::f64, DType::f32, DType::f16, DType::bf16}) {
        check_outputs(
            [&](Backend& backend) {
              const Tensor source = make_tensor(backend, {count}, from, values);
              const Tensor target = make_poisoned(backend, {count}, to);
              backend.copy(target, source);
              return std::vector<Values>{read_back(backend, target)};
            },
            [&](const std::vector<Values>& got) { QCOMPARE(got[0], rounded(rounded(values, from), to)); });
      }
    }
  }

  void copying_a_nan_to_bf16_keeps_it_a_nan() {
    const auto backend = test_backend(1);
    const Tensor source = make_tensor(*backend, {40}, DType::f32, Values(40, std::nan("")));
    const Tensor target = backend->allocate({40}, DType::bf16);
    backend->copy(target, source);
    for (const double value : read_back(*backend, target)) QVERIFY(std::isnan(value));
  }

  void filling_with_zero_reaches_every_byte() {
    const auto backend = test_backend(2);
    for (const std::int64_t count : {1, 63, 65, 1000003}) {
      const Tensor target = make_poisoned(*backend, {count}, DType::f32);
      backend->fill_zero(target);
      QCOMPARE(read_back(*backend, target), Values(static_cast<std::size_t>(count), 0.0));
    }
  }

  void embedding_takes_the_rows_of_its_ids_data() { shapes(); }
  void embedding_takes_the_rows_of_its_ids() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const Values table = random_values(11 * width, 2);
    const Indices ids = random_indices(rows, 11, 3);
    for (const DType stored : {DType::f32, DType::f16, DType::bf16}) {
      for (const DType compute : compute_types()) {
        check_outputs(
            [&](Backend& backend) {
              const Tensor t = make_tensor(backend, {11, width}, stored, table);
              const Tensor out = make_poisoned(backend, {rows, width}, compute);
              backend.embedding_forward(t, make_indices(backend, ids), out);
              return std::vector<Values>{read_back(backend, out)};
            },
            [&](const std::vector<Values>& got) {
              const Values want = reference::embedding_forward(rounded(table, stored), ids, width);
              QCOMPARE(got[0], rounded(want, compute));
            });
      }
    }
  }

  void embedding_backward_adds_rows_of_equal_ids_data() { shapes(); }
  void embedding_backward_adds_rows_of_equal_ids() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const Values before = random_values(5 * width, 4);
    const Values dy = random_values(rows * width, 5);
    const Indices ids = random_indices(rows, 5, 6);
    for (const DType compute : compute_types()) {
      check_outputs(
          [&](Backend& backend) {
            const Tensor table = make_tensor(backend, {5, width}, DType::f32, before);
            backend.embedding_backward(make_tensor(backend, {rows, width}, compute, dy),
                                       make_indices(backend, ids), table);
            return std::vector<Values>{read_back(backend, table)};
          },
          [&](const std::vector<Values>& got) {
            const Values want =
                reference::embedding_backward(rounded(dy, compute), ids, width, rounded(before, DType::f32));
            compare(got[0], want, tolerance_for(DType::f32, rows));
          });
    }
  }

  void rows_are_gathered_and_scattered_data() { shapes(); }
  void rows_are_gathered_and_scattered() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const std::int64_t all = 2 * rows + 1;
    const Values from = random_values(all * width, 7);
    Indices index(static_cast<std::size_t>(rows));
    for (int i = 0; i < rows; ++i)
      index[static_cast<std::size_t>(i)] = static_cast<std::int32_t>(all - 2 - 2 * i);
    for (const DType dtype : {DType::f32, DType::bf16, DType::f16, DType::f64}) {
      check_outputs(
          [&](Backend& backend) {
            const Tensor picked = make_poisoned(backend, {rows, width}, dtype);
            const Tensor spread = make_poisoned(backend, {all, width}, dtype);
            const Tensor where = make_indices(backend, index);
            backend.gather_rows(make_tensor(backend, {all, width}, dtype, from), where, picked);
            backend.scatter_rows(picked, where, spread);
            return std::vector<Values>{read_back(backend, picked), read_back(backend, spread)};
          },
          [&](const std::vector<Values>& got) {
            const Values picked = reference::gather_rows(rounded(from, dtype), index, width);
            QCOMPARE(got[0], picked);
            QCOMPARE(got[1], reference::scatter_rows(picked, index, width, all));
          });
    }
  }

  void adding_is_exact_up_to_one_rounding_data() { shapes(); }
  void adding_is_exact_up_to_one_rounding() {
    QFETCH(int, rows);
    QFETCH(int, width);
    for (const DType dtype : compute_types()) {
      const Values a = rounded(random_values(rows * width, 8), dtype);
      const Values b = rounded(random_values(rows * width, 9), dtype);
      check_outputs(
          [&](Backend& backend) {
            const Tensor to = make_tensor(backend, {rows, width}, dtype, a);
            backend.add(to, make_tensor(backend, {rows, width}, dtype, b));
            return std::vector<Values>{read_back(backend, to)};
          },
          [&](const std::vector<Values>& got) {
            Values want = a;
            for (std::size_t i = 0; i < a.size(); ++i) {
              want[i] = static_cast<double>(static_cast<float>(a[i]) + static_cast<float>(b[i]));
            }
            QCOMPARE(got[0], rounded(want, dtype));
          });
    }
  }

  void indices_outside_their_range_give_nan_and_touch_nothing() {
    const auto backend = test_backend(1);
    if (!backend->asynchronous()) QSKIP("this back end refuses them");
    const Values values = random_values(3 * 20, 1);
    const Tensor ids = make_indices(*backend, {2, -1, 3, 2000000000, -2000000000});
    for (const DType dtype : compute_types()) {
      const Tensor table = make_tensor(*backend, {3, 20}, dtype, values);
      const Tensor embedded = make_tensor(*backend, {5, 20}, dtype, Values(100, 0.0));
      const Tensor gathered = make_tensor(*backend, {5, 20}, dtype, Values(100, 0.0));
      backend->embedding_forward(table, ids, embedded);
      backend->gather_rows(table, ids, gathered);
      for (const Tensor* rows : {&embedded, &gathered}) {
        const Values got = read_back(*backend, *rows);
        for (std::size_t i = 0; i < got.size(); ++i) {
          if (i < 20)
            QCOMPARE(got[i], rounded(values, dtype)[40 + i]);
          else
            QVERIFY(std::isnan(got[i]));
        }
      }
      const Tensor spread = make_poisoned(*backend, {3, 20}, dtype);
      backend->scatter_rows(make_tensor(*backend, {5, 20}, dtype, Values(100, 1.0)), ids, spread);
      Values want(60, 0.0);
      std::fill(want.begin() + 40, want.end(), 1.0);
      QCOMPARE(read_back(*backend, spread), want);
      const Tensor gradient = make_tensor(*backend, {3, 20}, DType::f32, Values(60, 0.0));
      backend->embedding_backward(make_tensor(*backend, {5, 20}, dtype, Values(100, 1.0)), ids, gradient);
      QCOMPARE(read_back(*backend, gradient), want);
    }
  }

  void columns_of_a_wider_buffer_are_taken_and_their_gaps_left_alone() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("this back end takes no rows with gaps");
    const Tensor order = make_indices(*backend, {3, 0, 4, 1, 2});
    for (const DType dtype : compute_types()) {
      for (const auto& [width, before, after] : {std::tuple{64, 16, 32}, std::tuple{37, 3, 5}}) {
        const Values a = rounded(random_values(5 * width, 1), dtype);
        const auto wide = [&](const Values& values) {
          return make_wide(*backend, {5, width}, dtype, values, before, after);
        };
        const WideTensor from = wide(a), to = wide(a), zero = wide(a), sum = wide(a);
        const Tensor flat = make_poisoned(*backend, {5, width}, DType::f32);
        backend->copy(flat, from.view);
        QCOMPARE(read_back(*backend, flat), a);
        backend->fill_zero(zero.view);
        QCOMPARE(read_wide(*backend, zero), Values(a.size(), 0.0));
        backend->copy(zero.view, from.view);
        QCOMPARE(read_wide(*backend, zero), a);
        backend->gather_rows(from.view, order, to.view);
        QCOMPARE(read_wide(*backend, to), reference::gather_rows(a, {3, 0, 4, 1, 2}, width));
        backend->scatter_rows(to.view, order, zero.view);
        QCOMPARE(read_wide(*backend, zero), a);
        backend->add(sum.view, from.view);
        Values twice = a;
        for (double& value : twice) value *= 2;
        QCOMPARE(read_wide(*backend, sum), twice);
        backend->embedding_forward(make_tensor(*backend, {5, width}, dtype, a), order, to.view);
        QCOMPARE(read_wide(*backend, to), reference::gather_rows(a, {3, 0, 4, 1, 2}, width));
        const Tensor gradient = make_tensor(*backend, {5, width}, DType::f32, Values(a.size(), 0.0));
        backend->embedding_backward(to.view, order, gradient);
        QCOMPARE(read_back(*backend, gradient), a);
      }
    }
  }

  void nothing_is_done_for_no_rows() {
    const auto backend = test_backend(1);
    const Tensor none = backend->allocate({0, 8}, DType::f32);
    const Tensor no_ids = backend->allocate({0}, DType::i32);
    const Tensor table = make_tensor(*backend, {3, 8}, DType::f32, Values(24, 1.0));
    backend->embedding_forward(table, no_ids, none);
    backend->embedding_backward(none, no_ids, table);
    backend->gather_rows(table, no_ids, none);
    backend->add(none, none);
    backend->copy(none, none);
    backend->fill_zero(none);
    QCOMPARE(read_back(*backend, table), Values(24, 1.0));
    backend->scatter_rows(none, no_ids, table);
    QCOMPARE(read_back(*backend, table), Values(24, 0.0));
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor table = make_tensor(*backend, {4, 3}, DType::f32, random_values(12, 1));
    const Tensor out = backend->allocate({2, 3}, DType::f32);
    const Tensor bytes = backend->allocate({2, 3}, DType::u8);
    const Tensor wide = backend->allocate({2, 4}, DType::f32);
    const Tensor ids = make_indices(*backend, {0, 3});
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    if (!backend->asynchronous()) {
      QVERIFY(refused([&] { backend->embedding_forward(table, make_indices(*backend, {0, 4}), out); }));
      QVERIFY(refused([&] { backend->embedding_forward(table, make_indices(*backend, {-1, 0}), out); }));
      QVERIFY(refused([&] { backend->gather_rows(table, make_indices(*backend, {0, 4}), out); }));
      QVERIFY(refused([&] { backend->scatter_rows(out, make_indices(*backend, {0, 4}), table); }));
    }
    QVERIFY(refused([&] { backend->embedding_forward(table, ids, wide); }));
    QVERIFY(refused([&] { backend->embedding_forward(table, ids, bytes); }));
    QVERIFY(refused([&] { backend->embedding_forward(table, ids, TensorView()); }));
    QVERIFY(refused([&] { backend->embedding_forward(table, out, out); }));
    QVERIFY(refused([&] { backend->embedding_backward(wide, ids, table); }));
    QVERIFY(refused([&] { backend->scatter_rows(out, make_indices(*backend, {0}), table); }));
    QVERIFY(refused([&] { backend->add(table, out); }));
    QVERIFY(refused([&] { backend->add(bytes, bytes); }));
    QVERIFY(refused([&] { backend->copy(table, out); }));
    QVERIFY(refused([&] { backend->copy(bytes, out); }));
  }
};

QTEST_GUILESS_MAIN(TestRows)
#include "test_rows.moc"
