// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Case {
  DType compute = DType::f32;
  WeightFormat format = WeightFormat::f32;
  std::int64_t rows = 0, out = 0, in = 0;
  std::vector<std::int64_t> ranks;
  bool bias = false;
  Write write = Write::overwrite;

  std::string name() const {
    std::string text = std::string(to_string(compute)) + " " + to_string(format) + " " +
                       std::to_string(rows) + "x" + std::to_string(out) + "x" + std::to_string(in);
    for (const std::int64_t rank : ranks) text += " r" + std::to_string(rank);
    if (bias) text += " bias";
    if (write == Write::accumulate) text += " accumulate";
    return text;
  }
};

/// One branch on the device and as doubles.
struct Branch {
  reference::Lora values;
  Tensor a, b, xa;
  LoraTerm term() const { return {a, b, static_cast<float>(values.scale), xa}; }
};

Branch make_branch(Backend& backend, const Case& c, std::int64_t rank, std::uint64_t seed, double scale) {
  Branch branch;
  branch.values.rank = rank;
  branch.values.scale = scale;
  branch.values.a = rounded(random_values(rank * c.in, seed, 0.2), c.compute);
  branch.values.b = rounded(random_values(c.out * rank, seed + 1, 0.2), c.compute);
  branch.a = make_tensor(backend, {rank, c.in}, DType::f32, branch.values.a);
  branch.b = make_tensor(backend, {c.out, rank}, DType::f32, branch.values.b);
  branch.xa = make_poisoned(backend, {c.rows, rank}, c.compute);
  return branch;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    std::vector<Case> all;
    for (const DType compute : {DType::f32, DType::bf16}) {
      for (const WeightFormat format :
           {WeightFormat::f32, WeightFormat::bf16, WeightFormat::f16, WeightFormat::nf4,
            WeightFormat::nf4_single, WeightFormat::fp4, WeightFormat::fp4_single, WeightFormat::int8}) {
        all.push_back({compute, format, 1, 64, 128, {}, false, Write::overwrite});
        all.push_back({compute, format, 1, 70, 192, {8}, true, Write::accumulate});
        all.push_back({compute, format, 3, 33, 70, {5}, false, Write::overwrite});
        all.push_back({compute, format, 5, 200, 64, {4, 9}, true, Write::overwrite});
        all.push_back({compute, format, 17, 129, 65, {1}, true, Write::accumulate});
        all.push_back({compute, format, 300, 131, 192, {32}, false, Write::overwrite});
        all.push_back({compute, format, 130, 1, 7, {3}, false, Write::accumulate});
      }
      all.push_back({compute, WeightFormat::nf4, 8, 576, 576, {32}, false, Write::overwrite});
      all.push_back({compute, WeightFormat::nf4, 23, 40, 1152, {32, 8}, true, Write::accumulate});
      all.push_back({compute, WeightFormat::bf16, 11, 50, 1100, {8}, false, Write::overwrite});
      all.push_back({compute, WeightFormat::f16, 4, 50, 97, {8}, false, Write::overwrite});
      all.push_back({compute, WeightFormat::f32, 2, 50, 97, {8}, false, Write::overwrite});
      all.push_back({compute, WeightFormat::nf4, 64, 320, 1536, {16}, false, Write::accumulate});
      all.push_back({compute, WeightFormat::nf4, 520, 192, 576, {64}, false, Write::overwrite});
    }
    for (const WeightFormat format : {WeightFormat::nf4, WeightFormat::bf16, WeightFormat::f16}) {
      all.push_back({DType::f16, format, 3, 33, 70, {5}, false, Write::overwrite});
      all.push_back({DType::f16, format, 70, 129, 192, {33}, true, Write::accumulate});
      all.push_back({DType::f16, format, 130, 64, 64, {}, false, Write::overwrite});
    }
    return all;
  }();
  return list;
}

void add_rows() {
  QTest::addColumn<int>("index");
  for (std::size_t i = 0; i < cases().size(); ++i) {
    QTest::newRow(cases()[i].name().c_str()) << static_cast<int>(i);
  }
}

/// A tolerance that also allows for x A^T, scale B and their like having been rounded to 16 bits.
Tolerance allowed(const Case& c, std::int64_t terms) {
  Tolerance tolerance = tolerance_for(c.compute, terms);
  if (c.compute == DType::bf16) tolerance.scaled += 0x1p-9;
  if (c.compute == DType::f16) tolerance = {1e-5, 0x1p-10, 0x1p-10};
  return tolerance;
}

}  // namespace

class TestLinear : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    std::string why;
    if (isa_is_missing(why)) QSKIP(why.c_str());
  }

  void forward_equals_the_reference_data() { add_rows(); }
  void forward_equals_the_reference() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    if (!backend->supports(c.compute)) QSKIP("this compute type is not there");
    const Weight weight = random_weight(*backend, c.format, c.out, c.in, 3, c.bias);
    const Values x = rounded(random_values(c.rows * c.in, 5), c.compute);
    const Values before = rounded(random_values(c.rows * c.out, 6), c.compute);
    std::vector<Branch> branches;
    std::vector<reference::Lora> values;
    std::vector<LoraTerm> terms;
    for (const std::int64_t rank : c.ranks) {
      branches.push_back(make_branch(*backend, c, rank, 10 + rank, branches.empty() ? 1.0 : -0.75));
      values.push_back(branches.back().values);
      terms.push_back(branches.back().term());
    }
    const Tensor xt = make_tensor(*backend, {c.rows, c.in}, c.compute, x);
    const Tensor y = c.write == Write::accumulate ? make_tensor(*backend, {c.rows, c.out}, c.compute, before)
                                                  : make_poisoned(*backend, {c.rows, c.out}, c.compute);
    backend->linear_forward(xt, weight, terms, y, c.write);

    reference::Linear want = reference::linear_forward(x, values_of(*backend, weight, c.compute),
                                                       c.bias ? read_back(*backend, weight.bias) : Values{},
                                                       values, {c.rows, c.out, c.in});
    if (c.write == Write::accumulate) {
      for (std::size_t i = 0; i < before.size(); ++i) want.y[i] += before[i];
    }
    QCOMPARE(difference(read_back(*backend, y), want.y, allowed(c, c.in)), std::string());
    for (std::size_t i = 0; i < branches.size(); ++i) {
      QCOMPARE(difference(read_back(*backend, branches[i].xa), want.xa[i], tolerance_for(c.compute, c.in)),
               std::string());
    }
  }

  void backward_equals_the_reference_data() { add_rows(); }
  void backward_equals_the_reference() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    if (!backend->supports(c.compute)) QSKIP("this compute type is not there");
    const Weight weight = random_weight(*backend, c.format, c.out, c.in, 3);
    const Values x = rounded(random_values(c.rows * c.in, 5), c.compute);
    const Values dy = rounded(random_values(c.rows * c.out, 7), c.compute);
    const Values before = rounded(random_values(c.rows * c.in, 8), c.compute);
    const Tensor xt = make_tensor(*backend, {c.rows, c.in}, c.compute, x);
    const Tensor dyt = make_tensor(*backend, {c.rows, c.out}, c.compute, dy);
    const bool accumulate = c.write == Write::accumulate;
    const Tensor dx = accumulate ? make_tensor(*backend, {c.rows, c.in}, c.compute, before)
                                 : make_poisoned(*backend, {c.rows, c.in}, c.compute);
    const Values w = values_of(*backend, weight, c.compute);
    const reference::LinearSizes sizes{c.rows, c.out, c.in};
    if (c.ranks.empty()) {
      backend->linear_backward(dyt, {}, weight, nullptr, nullptr, dx, c.write);
      Values want = reference::linear_backward(dy, x, w, nullptr, sizes).dx;
      for (std::size_t i = 0; accumulate && i < want.size(); ++i) want[i] += before[i];
      QCOMPARE(difference(read_back(*backend, dx), want, allowed(c, c.out)), std::string());
      return;
    }
    Branch branch = make_branch(*backend, c, c.ranks[0], 20, 1.5);
    const Tensor y = make_poisoned(*backend, {c.rows, c.out}, c.compute);
    const LoraTerm term = branch.term();
    backend->linear_forward(xt, weight, {&term, 1}, y, Write::overwrite);
    const Values a_before = random_values(c.ranks[0] * c.in, 30, 0.5);
    const Values b_before = random_values(c.ranks[0] * c.out, 31, 0.5);
    const Tensor da = make_tensor(*backend, {c.ranks[0], c.in}, DType::f32, a_before);
    const Tensor db = make_tensor(*backend, {c.out, c.ranks[0]}, DType::f32, b_before);
    const LoraGradient gradient{da, db};
    backend->linear_backward(dyt, xt, weight, &term, &gradient, dx, c.write);

    reference::LinearGradients want = reference::linear_backward(dy, x, w, &branch.values, sizes);
    for (std::size_t i = 0; accumulate && i < before.size(); ++i) want.dx[i] += before[i];
    for (std::size_t i = 0; i < a_before.size(); ++i) want.da[i] += a_before[i];
    for (std::size_t i = 0; i < b_before.size(); ++i) want.db[i] += b_before[i];
    QCOMPARE(difference(read_back(*backend, dx), want.dx, allowed(c, c.out)), std::string());
    QCOMPARE(difference(read_back(*backend, da), want.da, allowed(c, c.rows + c.out)), std::string());
    QCOMPARE(difference(read_back(*backend, db), want.db, allowed(c, c.rows + c.in)), std::string());
  }

  void reference_gradients_are_the_slopes_of_the_forward() {
    const reference::LinearSizes sizes{4, 5, 6};
    const Values x = random_values(24, 1);
    const Values w = random_values(30, 2);
    const Values dy = random_values(20, 3);
    const reference::Lora lora{random_values(12, 4), random_values(10, 5), 2, 0.7};
    const auto loss = [&](const Values& xv, const reference::Lora& branch) {
      return inner_product(dy, reference::linear_forward(xv, w, {}, {branch}, sizes).y);
    };
    const auto got = reference::linear_backward(dy, x, w, &lora, sizes);
    const Tolerance tolerance{1e-7, 1e-6, 0};
    QCOMPARE(
        difference(got.dx, central_differences([&](const Values& v) { return loss(v, lora); }, x), tolerance),
        std::string());
    const auto with_a = [&](const Values& v) { return loss(x, {v, lora.b, 2, 0.7}); };
    QCOMPARE(difference(got.da, central_differences(with_a, lora.a), tolerance), std::string());
    const auto with_b = [&](const Values& v) { return loss(x, {lora.a, v, 2, 0.7}); };
    QCOMPARE(difference(got.db, central_differences(with_b, lora.b), tolerance), std::string());
  }

  void gradients_are_the_slopes_of_the_forward_itself() {
    const auto backend = test_backend(2);
    const Case c{DType::f32, WeightFormat::nf4, 9, 37, 64, {3}, false, Write::overwrite};
    const Weight weight = random_weight(*backend, c.format, c.out, c.in, 3);
    const Values x = random_values(c.rows * c.in, 5);
    const Values dy = random_values(c.rows * c.out, 7);
    const Tensor dyt = make_tensor(*backend, {c.rows, c.out}, DType::f32, dy);
    const Tensor y = make_poisoned(*backend, {c.rows, c.out}, DType::f32);
    Branch branch = make_branch(*backend, c, 3, 20, 1.5);
    const auto loss = [&](const Values& xv, const Values& a, const Values& b) {
      const Tensor xt = make_tensor(*backend, {c.rows, c.in}, DType::f32, xv);
      branch.a = make_tensor(*backend, {3, c.in}, DType::f32, a);
      branch.b = make_tensor(*backend, {c.out, 3}, DType::f32, b);
      const LoraTerm moved = branch.term();
      backend->linear_forward(xt, weight, {&moved, 1}, y, Write::overwrite);
      return inner_product(dy, read_back(*backend, y));
    };
    const Values a = branch.values.a;
    const Values b = branch.values.b;
    const Tensor at = make_tensor(*backend, {3, c.in}, DType::f32, a);
    const Tensor bt = make_tensor(*backend, {c.out, 3}, DType::f32, b);
    const Tensor xt = make_tensor(*backend, {c.rows, c.in}, DType::f32, x);
    const LoraTerm fixed{at, bt, 1.5f, branch.xa};
    backend->linear_forward(xt, weight, {&fixed, 1}, y, Write::overwrite);
    const Tensor dx = make_poisoned(*backend, {c.rows, c.in}, DType::f32);
    const Tensor da = make_tensor(*backend, {3, c.in}, DType::f32, Values(a.size(), 0.0));
    const Tensor db = make_tensor(*backend, {c.out, 3}, DType::f32, Values(b.size(), 0.0));
    const LoraGradient gradient{da, db};
    backend->linear_backward(dyt, xt, weight, &fixed, &gradient, dx, Write::overwrite);
    const Tolerance tolerance{2e-3, 2e-3,
                              2e-3};  // f32 under a step of 0.05; the forward is linear in each operand
    const Values got_dx = read_back(*backend, dx), got_da = read_back(*backend, da),
                 got_db = read_back(*backend, db);
    QCOMPARE(difference(got_dx, central_differences([&](const Values& v) { return loss(v, a, b); }, x, 0.05),
                        tolerance),
             std::string());
    QCOMPARE(difference(got_da, central_differences([&](const Values& v) { return loss(x, v, b); }, a, 0.05),
                        tolerance),
             std::string());
    QCOMPARE(difference(got_db, central_differences([&](const Values& v) { return loss(x, a, v); }, b, 0.05),
                        tolerance),
             std::string());
  }

  void without_dx_the_gradients_of_the_branch_are_the_same() {
    const auto backend = test_backend(2);
    const DType compute = backend->supports(DType::bf16) ? DType::bf16 : DType::f16;
    const Case c{compute, WeightFormat::nf4, 70, 96, 128, {8}, false, Write::overwrite};
    const Weight weight = random_weight(*backend, c.format, c.out, c.in, 3);
    const Tensor x = make_tensor(*backend, {c.rows, c.in}, c.compute, random_values(c.rows * c.in, 5));
    const Tensor dy = make_tensor(*backend, {c.rows, c.out}, c.compute, random_values(c.rows * c.out, 6));
    const Tensor y = make_poisoned(*backend, {c.rows, c.out}, c.compute);
    const Branch branch = make_branch(*backend, c, 8, 20, 0.5);
    const LoraTerm term = branch.term();
    backend->linear_forward(x, weight, {&term, 1}, y, Write::overwrite);
    const Tensor dx = make_poisoned(*backend, {c.rows, c.in}, c.compute);
    std::vector<std::vector<std::uint8_t>> results;
    for (const TensorView& out : {dx.view(), TensorView{}}) {
      const Tensor da =
          make_tensor(*backend, {8, c.in}, DType::f32, Values(static_cast<std::size_t>(8 * c.in), 0.0));
      const Tensor db =
          make_tensor(*backend, {c.out, 8}, DType::f32, Values(static_cast<std::size_t>(8 * c.out), 0.0));
      const LoraGradient gradient{da, db};
      backend->linear_backward(dy, x, weight, &term, &gradient, out, Write::overwrite);
      results.push_back(read_bytes(*backend, da));
      results.push_back(read_bytes(*backend, db));
    }
    QCOMPARE(results[0], results[2]);
    QCOMPARE(results[1], results[3]);
  }

  void results_do_not_depend_on_the_team_data() { add_rows(); }
  void results_do_not_depend_on_the_team() {
    QFETCH(int, index);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    if (!test_backend(1)->supports(c.compute)) QSKIP("this compute type is not there");
    const auto work = [&c](Backend& backend) {
      const Weight weight = random_weight(backend, c.format, c.out, c.in, 3, c.bias);
      const Tensor x = make_tensor(backend, {c.rows, c.in}, c.compute, random_values(c.rows * c.in, 5));
      const Tensor dy = make_tensor(backend, {c.rows, c.out}, c.compute, random_values(c.rows * c.out, 6));
      const Tensor y = make_tensor(backend, {c.rows, c.out}, c.compute, random_values(c.rows * c.out, 7));
      const Tensor dx = make_tensor(backend, {c.rows, c.in}, c.compute, random_values(c.rows * c.in, 8));
      const Branch branch = make_branch(backend, c, 32, 20, 0.5);
      const LoraTerm term = branch.term();
      const Tensor da = make_tensor(backend, {32, c.in}, DType::f32, random_values(32 * c.in, 9));
      const Tensor db = make_tensor(backend, {c.out, 32}, DType::f32, random_values(32 * c.out, 10));
      const LoraGradient gradient{da, db};
      backend.linear_forward(x, weight, {&term, 1}, y, c.write);
      backend.linear_backward(dy, x, weight, &term, &gradient, dx, c.write);
      std::vector<std::uint8_t> bytes;
      for (const TensorView& view : {y.view(), branch.xa.view(), dx.view(), da.view(), db.view()}) {
        const std::vector<std::uint8_t> more = read_bytes(backend, view);
        bytes.insert(bytes.end(), more.begin(), more.end());
      }
      return bytes;
    };
    std::string complaint;
    const std::vector<std::uint8_t> once = same_with_any_threads(work, complaint);
    QCOMPARE(complaint, std::string());
    const auto backend = test_backend(2);
    QVERIFY(once == work(*backend));
  }

  void the_same_back_end_serves_many_shapes_without_growing() {
    const auto backend = test_backend(2);
    const Weight weight = random_weight(*backend, WeightFormat::nf4, 96, 128, 3);
    const auto step = [&](std::int64_t rows) {
      const Tensor x = make_tensor(*backend, {rows, 128}, DType::f32, random_values(rows * 128, 5));
      const Tensor y = make_poisoned(*backend, {rows, 96}, DType::f32);
      backend->linear_forward(x, weight, {}, y, Write::overwrite);
    };
    for (const std::int64_t rows : {300, 7, 1}) step(rows);
    const std::uint64_t used = backend->budget().used_bytes();
    for (std::int64_t rows = 1; rows < 200; ++rows) step(rows);  // more shapes than are kept
    QCOMPARE(backend->budget().used_bytes(), used);
  }

  void a_value_that_is_not_finite_reaches_its_row_only() {
    const auto backend = test_backend(2);
    const Weight weight = random_weight(*backend, WeightFormat::nf4, 64, 128, 3);
    for (const std::int64_t rows : {2, 40}) {
      Values x = random_values(rows * 128, 5);
      x[130] = std::numeric_limits<double>::quiet_NaN();
      const Tensor xt = make_tensor(*backend, {rows, 128}, DType::f32, x);
      const Tensor y = make_poisoned(*backend, {rows, 64}, DType::f32);
      backend->linear_forward(xt, weight, {}, y, Write::overwrite);
      const Values got = read_back(*backend, y);
      for (std::size_t i = 0; i < got.size(); ++i) QCOMPARE(std::isnan(got[i]), i / 64 == 1);
    }
  }

  void no_rows_are_nothing_to_do() {
    const auto backend = test_backend(2);
    const Weight weight = random_weight(*backend, WeightFormat::nf4, 64, 128, 3);
    const TensorView x{nullptr, DType::f32, {0, 128}};
    const TensorView y{nullptr, DType::f32, {0, 64}};
    backend->linear_forward(x, weight, {}, y, Write::overwrite);
    backend->linear_backward(y, x, weight, nullptr, nullptr, x, Write::overwrite);
  }

  void wrong_operands_are_refused() {
    const auto backend = test_backend(1);
    const Weight weight = random_weight(*backend, WeightFormat::nf4, 64, 128, 3);
    const Tensor x = make_tensor(*backend, {4, 128}, DType::f32, random_values(512, 5));
    const Tensor narrow = make_tensor(*backend, {4, 127}, DType::f32, random_values(508, 5));
    const Tensor half = make_tensor(*backend, {4, 128}, DType::f16, random_values(512, 5));
    const Tensor y = make_poisoned(*backend, {4, 64}, DType::f32);
    const Tensor y_short = make_poisoned(*backend, {3, 64}, DType::f32);
    const Tensor y_bf16 = make_poisoned(*backend, {4, 64}, DType::bf16);
    const Case c{DType::f32, WeightFormat::nf4, 4, 64, 128, {8}, false, Write::overwrite};
    const Branch branch = make_branch(*backend, c, 8, 20, 1);
    const Branch other = make_branch(
        *backend, {DType::f32, WeightFormat::nf4, 4, 64, 96, {8}, false, Write::overwrite}, 8, 20, 1);
    const auto refused = [](const std::function<void()>& call) {
      return throws(call, ErrorCode::invalid_argument);
    };
    const auto forward = [&](TensorView from, TensorView to, const std::vector<LoraTerm>& terms) {
      return refused([&] { backend->linear_forward(from, weight, terms, to, Write::overwrite); });
    };
    QVERIFY(!forward(x, y, {branch.term()}));
    QVERIFY(forward(narrow, y, {}));
    QVERIFY(forward(half, y, {}));
    QVERIFY(forward(x, y_short, {}));
    QVERIFY(forward(x, y_bf16, {}));
    QVERIFY(forward({}, y, {}));
    QVERIFY(forward(x, y, {other.term()}));
    QVERIFY(forward(x, y, {LoraTerm{branch.a, branch.b, 1, {}}}));
    QVERIFY(forward(x, y, {LoraTerm{branch.b, branch.a, 1, branch.xa}}));
    const LoraTerm term = branch.term();
    const LoraGradient gradient{branch.a, branch.b};
    const auto backward = [&](TensorView from, TensorView dx, const LoraGradient* to) {
      return refused([&] { backend->linear_backward(y, from, weight, &term, to, dx, Write::overwrite); });
    };
    QVERIFY(!backward(x, x, &gradient));
    QVERIFY(backward(x, x, nullptr));
    QVERIFY(backward(narrow, x, &gradient));
    QVERIFY(backward(x, narrow, &gradient));
    const LoraGradient crossed{branch.b, branch.a};
    QVERIFY(backward(x, x, &crossed));
    Weight broken = random_weight(*backend, WeightFormat::nf4, 64, 128, 3);
    broken.absmax = Tensor();
    QVERIFY(refused([&] { backend->linear_forward(x, broken, {}, y, Write::overwrite); }));
    broken = random_weight(*backend, WeightFormat::bf16, 64, 128, 3);
    broken.out = 65;
    QVERIFY(refused([&] { backend->linear_forward(x, broken, {}, y, Write::overwrite); }));
  }
};

QTEST_GUILESS_MAIN(TestLinear)
#include "test_linear.moc"
