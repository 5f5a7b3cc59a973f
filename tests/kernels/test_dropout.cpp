// SPDX-License-Identifier: Apache-2.0
// Masks and noise drawn on the device: the numbers themselves. What linear layers make of a mask is in
// test_linear_group.
#include <cmath>
#include <limits>

#include "kernels/base/half.h"
#include "tests/kernels/kernel_test.h"
#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

/// Which elements of (rows, columns) a branch of this dropout reads: with A the unit matrix, x A^T is what is
/// left of x.
Values seen_through_a_branch(Backend& backend, DType compute, std::int64_t rows, std::int64_t columns,
                             const LoraDropout& dropout, const Values& x) {
  const Weight weight = random_weight(backend, WeightFormat::f32, 3, columns, 3);
  Values unit(static_cast<std::size_t>(columns * columns), 0.0);
  for (std::int64_t i = 0; i < columns; ++i) unit[static_cast<std::size_t>(i * columns + i)] = 1;
  const Tensor a = make_tensor(backend, {columns, columns}, DType::f32, unit);
  const Tensor b = make_tensor(backend, {3, columns}, DType::f32, random_values(3 * columns, 4));
  const Tensor xa = make_poisoned(backend, {rows, columns}, compute);
  const Tensor xt = make_tensor(backend, {rows, columns}, compute, x);
  const Tensor y = make_poisoned(backend, {rows, 3}, compute);
  const LoraTerm term{a, b, 1, xa, dropout};
  backend.linear_forward(xt, weight, {&term, 1}, y, Write::overwrite);
  return read_back(backend, xa);
}

Tensor random_tensor(Backend& backend, Shape shape, DType dtype, std::uint64_t seed) {
  return make_tensor(backend, shape, dtype, random_values(shape.elements(), seed, 0.3));
}

/// Every output of forward and backward of one layer, as bytes.
std::vector<std::uint8_t> layer(Backend& backend, DType compute, std::int64_t rows, std::int64_t in,
                                const LoraDropout& dropout) {
  const std::int64_t out = 40, rank = 6;
  const Weight weight = random_weight(backend, WeightFormat::nf4, out, in, 3);
  const Tensor x = random_tensor(backend, {rows, in}, compute, 1),
               dy = random_tensor(backend, {rows, out}, compute, 2);
  const Tensor a = random_tensor(backend, {rank, in}, DType::f32, 3),
               b = random_tensor(backend, {out, rank}, DType::f32, 4);
  const Tensor da = random_tensor(backend, {rank, in}, DType::f32, 5),
               db = random_tensor(backend, {out, rank}, DType::f32, 6);
  const Tensor y = make_poisoned(backend, {rows, out}, compute),
               dx = make_poisoned(backend, {rows, in}, compute);
  const Tensor xa = make_poisoned(backend, {rows, rank}, compute);
  const LoraTerm term{a, b, 1.5f, xa, dropout};
  const LoraGradient gradient{da, db};
  backend.linear_forward(x, weight, {&term, 1}, y, Write::overwrite);
  backend.linear_backward(dy, x, weight, &term, &gradient, dx, Write::overwrite);
  std::vector<std::uint8_t> bytes;
  for (const TensorView& view : {y.view(), xa.view(), dx.view(), da.view(), db.view()}) {
    const auto more = read_bytes(backend, view);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  return bytes;
}

double correlation(const Values& a, const Values& b) {
  double sum_a = 0, sum_b = 0, both = 0, squares_a = 0, squares_b = 0;
  const auto n = static_cast<double>(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum_a += a[i];
    sum_b += b[i];
    both += a[i] * b[i];
    squares_a += a[i] * a[i];
    squares_b += b[i] * b[i];
  }
  return (both - sum_a * sum_b / n) /
         std::sqrt((squares_a - sum_a * sum_a / n) * (squares_b - sum_b * sum_b / n));
}

}  // namespace

class TestDropout : public KernelTest {
  Q_OBJECT
 private slots:
  void the_device_draws_the_documented_mask_data() {
    QTest::addColumn<DType>("compute");
    QTest::addColumn<int>("rows");
    QTest::addColumn<int>("columns");
    QTest::addColumn<float>("probability");
    for (const DType compute : {DType::f32, DType::bf16, DType::f16}) {
      const std::pair<int, int> shapes[] = {{1, 1}, {2, 3}, {3, 7}, {17, 64}, {5, 65}, {33, 130}};
      for (const auto& [rows, columns] : shapes) {
        for (const float p : {0.05f, 0.5f, 0.95f})
          QTest::addRow("%s %d x %d, %g", to_string(compute), rows, columns, static_cast<double>(p))
              << compute << rows << columns << p;
      }
    }
  }
  void the_device_draws_the_documented_mask() {
    QFETCH(DType, compute);
    QFETCH(int, rows);
    QFETCH(int, columns);
    QFETCH(float, probability);
    const auto backend = test_backend(2);
    if (!backend->supports(compute)) QSKIP("this compute type is not there");
    const Indices keys = random_keys(rows, 11);
    const Tensor on_device = make_keys(*backend, keys);
    const Values ones(static_cast<std::size_t>(rows * columns), 1.0);
    for (const std::uint32_t place : {0u, 5u, 4000000000u}) {
      const Values got =
          seen_through_a_branch(*backend, compute, rows, columns, {probability, on_device, place}, ones);
      Values want = dropout_mask(keys, columns, probability, place);
      for (double& v : want) v = v == 0 ? 0 : static_cast<double>(dropout_scale(probability));
      QVERIFY(got == rounded(want, compute));  // every bit, so every device has the same one
    }
  }

  void the_right_share_is_left_out_independently_of_all_else() {
    constexpr std::int64_t rows = 400, columns = 256;
    constexpr float p = 0.3f;
    const auto mask_of = [&](std::uint64_t seed, std::uint32_t place) {
      Values mask = dropout_mask(random_keys(rows, seed), columns, p, place);
      for (double& v : mask) v = v != 0;
      return mask;
    };
    const Values mask = mask_of(1, 3), other_place = mask_of(1, 4), other_keys = mask_of(2, 3);
    const auto count = static_cast<double>(mask.size());
    const double deviation = std::sqrt(0.3 * 0.7 / count);
    double kept = 0;
    for (const double v : mask) kept += v;
    QVERIFY2(std::fabs(kept / count - 0.7) < 4 * deviation, qPrintable(QString::number(kept / count)));
    // Modules, other epochs or rows (other keys), neighbouring columns and neighbouring tokens.
    const auto shifted = [&](std::int64_t by) {
      Values moved(mask.begin() + by, mask.end());
      moved.insert(moved.end(), mask.begin(), mask.begin() + by);
      return moved;
    };
    const double bound = 4 / std::sqrt(count);
    for (const Values& other :
         {other_place, other_keys, shifted(1), shifted(2), shifted(4), shifted(columns)}) {
      const double r = correlation(mask, other);
      QVERIFY2(std::fabs(r) < bound, qPrintable(QString("%1, allowed %2").arg(r).arg(bound)));
    }
    // No row and no column has more or less than its share.
    for (std::int64_t row = 0; row < rows; ++row) {
      double of_row = 0;
      for (std::int64_t i = 0; i < columns; ++i) of_row += mask[static_cast<std::size_t>(row * columns + i)];
      QVERIFY(std::fabs(of_row / columns - 0.7) < 5 * std::sqrt(0.21 / columns));
    }
    for (std::int64_t i = 0; i < columns; ++i) {
      double of_column = 0;
      for (std::int64_t row = 0; row < rows; ++row)
        of_column += mask[static_cast<std::size_t>(row * columns + i)];
      QVERIFY(std::fabs(of_column / rows - 0.7) < 5 * std::sqrt(0.21 / rows));
    }
  }

  void what_is_left_out_is_zero_whatever_it_was() {
    const auto backend = test_backend(2);
    const Indices keys = random_keys(9, 11);
    const Tensor on_device = make_keys(*backend, keys);
    const Values mask = dropout_mask(keys, 33, 0.5f, 1);
    Values x = random_values(mask.size(), 5);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (mask[i] == 0) x[i] = std::numeric_limits<double>::infinity();
    }
    const Values got = seen_through_a_branch(*backend, DType::f32, 9, 33, {0.5f, on_device, 1}, x);
    for (std::size_t i = 0; i < got.size(); ++i)
      QCOMPARE(got[i], mask[i] == 0 ? 0 : 2 * static_cast<double>(static_cast<float>(x[i])));
  }

  void without_dropout_the_bits_are_those_of_a_branch_that_knows_none() {
    const auto backend = test_backend(2);
    const Tensor keys = make_keys(*backend, random_keys(70, 1));
    for (const DType compute : compute_types()) {
      for (const std::int64_t rows : {2, 70}) {
        const TensorView some = keys.view().row_range(0, rows);
        QVERIFY(layer(*backend, compute, rows, 96, {0, some, 7}) == layer(*backend, compute, rows, 96, {}));
        QVERIFY(layer(*backend, compute, rows, 96, {0.5f, some, 7}) !=
                layer(*backend, compute, rows, 96, {}));
      }
    }
  }

  void a_token_alone_sees_the_mask_it_sees_among_others() {
    const auto backend = test_backend(2);
    const Indices keys = random_keys(12, 21);
    const Tensor all = make_keys(*backend, keys);
    const Values x = random_values(12 * 40, 5);
    const Values together = seen_through_a_branch(*backend, DType::f32, 12, 40, {0.4f, all, 2}, x);
    for (std::int64_t row = 0; row < 12; ++row) {
      const Values own(x.begin() + row * 40, x.begin() + (row + 1) * 40);
      const Tensor key = make_keys(
          *backend, {keys[static_cast<std::size_t>(2 * row)], keys[static_cast<std::size_t>(2 * row + 1)]});
      const Values alone = seen_through_a_branch(*backend, DType::f32, 1, 40, {0.4f, key, 2}, own);
      QVERIFY(std::equal(alone.begin(), alone.end(), together.begin() + row * 40));
    }
  }

  void results_do_not_depend_on_the_team() {
    for (const DType compute : compute_types()) {
      std::string complaint;
      const auto work = [&](Backend& backend) {
        const Tensor keys = make_keys(backend, random_keys(300, 1));
        return layer(backend, compute, 300, 131, {0.2f, keys, 7});
      };
      if (compute != DType::f16) same_with_any_threads(work, complaint);
      QCOMPARE(complaint, std::string());
    }
  }

  void noise_is_the_documented_one_to_the_bit_data() { shapes(); }
  void noise_is_the_documented_one_to_the_bit() {
    QFETCH(int, rows);
    QFETCH(int, width);
    const auto backend = test_backend(2);
    const Indices keys = random_keys(rows, 31);
    const Tensor on_device = make_keys(*backend, keys);
    Values magnitude = random_values(rows, 32);
    for (std::size_t i = 0; i < magnitude.size(); i += 5) magnitude[i] = 0;  // padding
    const Tensor sizes = make_tensor(*backend, {rows}, DType::f32, magnitude);
    for (const DType compute : compute_types()) {
      const Values x = rounded(random_values(rows * width, 33), compute);
      const Tensor xt = make_tensor(*backend, {rows, width}, compute, x);
      backend->add_noise(xt, on_device, sizes);
      Values want;
      double largest = 0;
      for (std::int64_t i = 0; i < rows * width; ++i) {
        const std::int64_t row = i / width;
        const float number = centred_uniform(word_of(keys, row, RandomUse::neftune, 0, i % width));
        QVERIFY(number >= -1 && number < 1);
        largest = std::max(largest, static_cast<double>(std::fabs(number)));
        const volatile float noise = static_cast<float>(magnitude[static_cast<std::size_t>(row)]) * number;
        want.push_back(static_cast<double>(static_cast<float>(x[static_cast<std::size_t>(i)]) + noise));
      }
      QVERIFY(read_back(*backend, xt) == rounded(want, compute));
      QVERIFY(rows * width < 100 || largest > 0.9);
    }
  }

  void noise_leaves_the_columns_around_alone() {
    const auto backend = test_backend(2);
    if (!backend->fuses_parts()) QSKIP("rows have no gaps here");
    const Tensor keys = make_keys(*backend, random_keys(5, 31));
    const Tensor sizes = make_tensor(*backend, {5}, DType::f32, Values(5, 0.5));
    const Values x = random_values(5 * 33, 33);
    for (const std::int64_t before : {0, 3, 16}) {
      const WideTensor wide = make_wide(*backend, {5, 33}, DType::f32, x, before, 16 - before);
      const Tensor plain = make_tensor(*backend, {5, 33}, DType::f32, x);
      backend->add_noise(wide.view, keys, sizes);
      backend->add_noise(plain, keys, sizes);
      QVERIFY(read_wide(*backend, wide) == read_back(*backend, plain));
    }
  }

  void what_a_branch_and_its_layer_read_apart_is_exact_data() { shapes(); }
  void what_a_branch_and_its_layer_read_apart_is_exact() {
    QFETCH(int, rows);
    QFETCH(int, width);
    constexpr float p = 0.3f;
    constexpr std::uint32_t place = 9;
    const auto backend = test_backend(2);
    const Indices keys = random_keys(rows, 41);
    const Tensor on_device = make_keys(*backend, keys);
    const LoraDropout dropout{p, on_device, place};
    const float scale = dropout_scale(p);
    for (const DType compute : compute_types()) {
      const auto some = [&](std::uint64_t seed) {
        return rounded(random_values(rows * width, seed), compute);
      };
      const Values x = some(42), ddropped = some(43), drest = some(44), before = some(45);
      Values dropped, rest, dx, added;
      for (std::int64_t i = 0; i < rows * width; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const bool stays =
            word_of(keys, i / width, RandomUse::dropout, place, i % width) >= dropout_threshold(p);
        const auto number = [at](const Values& values) { return static_cast<float>(values[at]); };
        const volatile float kept = stays ? number(x) * scale : 0.0f;
        dropped.push_back(static_cast<double>(kept));
        rest.push_back(static_cast<double>(number(x) - kept));
        const volatile float both = stays ? (number(ddropped) - number(drest)) * scale : 0.0f;
        const volatile float slope = number(drest) + both;
        dx.push_back(static_cast<double>(slope));
        added.push_back(static_cast<double>(number(before) + slope));
      }
      const Shape shape{rows, width};
      const auto on = [&](const Values& values) { return make_tensor(*backend, shape, compute, values); };
      const Tensor xt = on(x), d = make_poisoned(*backend, shape, compute),
                   r = make_poisoned(*backend, shape, compute);
      backend->split_dropout(xt, dropout, d, r);
      QVERIFY(read_back(*backend, d) == rounded(dropped, compute));
      QVERIFY(read_back(*backend, r) == rounded(rest, compute));
      const Tensor alone = make_poisoned(*backend, shape, compute);
      backend->split_dropout(xt, dropout, alone, {});
      QVERIFY(read_back(*backend, alone) == rounded(dropped, compute));
      const Tensor gradient = make_poisoned(*backend, shape, compute), sum = on(before);
      backend->split_dropout_backward(on(ddropped), on(drest), dropout, gradient, Write::overwrite);
      backend->split_dropout_backward(on(ddropped), on(drest), dropout, sum, Write::accumulate);
      QVERIFY(read_back(*backend, gradient) == rounded(dx, compute));
      QVERIFY(read_back(*backend, sum) == rounded(added, compute));
      if (!backend->fuses_parts()) continue;
      const WideTensor from = make_wide(*backend, shape, compute, x, 8, 3),
                       to = make_wide(*backend, shape, compute, before, 4, 5);
      backend->split_dropout(from.view, dropout, to.view, {});
      QVERIFY(read_wide(*backend, to) == rounded(dropped, compute));
    }
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Tensor keys = make_keys(*backend, random_keys(4, 1)), few = make_keys(*backend, random_keys(3, 1));
    const Tensor flat = make_indices(*backend, random_keys(4, 1));
    const auto refuses = [&](const LoraDropout& dropout) {
      return throws([&] { layer(*backend, DType::f32, 4, 64, dropout); }, ErrorCode::invalid_argument);
    };
    QVERIFY(!refuses({0.5f, keys, 1}));
    QVERIFY(refuses({0.5f, few, 1}));
    QVERIFY(refuses({0.5f, flat, 1}));
    QVERIFY(refuses({0.5f, {}, 1}));
    for (const float p : {-0.1f, 1.0f, 1.5f, std::numeric_limits<float>::quiet_NaN()})
      QVERIFY(refuses({p, keys, 1}));
    const Tensor x = random_tensor(*backend, {4, 8}, DType::f32, 1);
    const Tensor sizes = random_tensor(*backend, {4}, DType::f32, 1),
                 short_sizes = random_tensor(*backend, {3}, DType::f32, 1);
    const auto noise_refuses = [&](TensorView to, TensorView key, TensorView magnitude) {
      return throws([&] { backend->add_noise(to, key, magnitude); }, ErrorCode::invalid_argument);
    };
    QVERIFY(!noise_refuses(x, keys, sizes));
    QVERIFY(noise_refuses(x, few, sizes));
    QVERIFY(noise_refuses(x, keys, short_sizes));
    QVERIFY(noise_refuses(x, keys, keys));
    QVERIFY(noise_refuses(keys, keys, sizes));
    const Tensor same = random_tensor(*backend, {4, 8}, DType::f32, 2),
                 other = random_tensor(*backend, {4, 7}, DType::f32, 2);
    const auto split_refuses = [&](TensorView from, const LoraDropout& dropout, TensorView to) {
      return throws([&] { backend->split_dropout(from, dropout, to, {}); }, ErrorCode::invalid_argument);
    };
    QVERIFY(!split_refuses(x, {0.5f, keys, 1}, same));
    QVERIFY(split_refuses(x, {0.5f, few, 1}, same));
    QVERIFY(split_refuses(x, {0.5f, keys, 1}, other));
    QVERIFY(split_refuses(x, {0.0f, keys, 1}, same));
    QVERIFY(throws(
        [&] {
          backend->split_dropout_backward(x, other, {0.5f, keys, 1}, same, Write::overwrite);
        },
        ErrorCode::invalid_argument));
  }
};

QTEST_GUILESS_MAIN(TestDropout)
#include "test_dropout.moc"
