// SPDX-License-Identifier: Apache-2.0
#include <QTest>
#include <cmath>
#include <utility>

#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

// Linear layers of few rows, as in chat: groups of parts with one input, several adapters, every format.
namespace {

struct PartCase {
  WeightFormat format = WeightFormat::nf4;
  std::int64_t out = 0;
  std::vector<std::int64_t> ranks;
  bool bias = false;
};

struct Case {
  std::string name;
  std::int64_t rows = 0, in = 0;
  std::vector<PartCase> parts;
  bool residual = false;
};

constexpr WeightFormat all_formats[] = {WeightFormat::f32,        WeightFormat::bf16,       WeightFormat::f16,
                                        WeightFormat::nf4,        WeightFormat::nf4_single, WeightFormat::fp4,
                                        WeightFormat::fp4_single, WeightFormat::int8};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = [] {
    using enum WeightFormat;
    std::vector<Case> all;
    for (const std::int64_t rows : {1, 2, 3, 4, 5, 8, 9, 16, 17, 40, 64}) {
      all.push_back({"q, k and v with adapters, " + std::to_string(rows) + " rows",
                     rows,
                     192,
                     {{nf4, 65, {8}, true}, {nf4, 17, {3}, false}, {nf4, 16, {1, 33}, true}},
                     false});
      all.push_back({"down with residual, " + std::to_string(rows) + " rows",
                     rows,
                     320,
                     {{nf4, 70, {16}, false}},
                     true});
    }
    for (const WeightFormat format : all_formats) {
      const std::string name = to_string(format);
      all.push_back({name + ", one row", 1, 128, {{format, 9, {}, false}, {format, 4, {5}, true}}, false});
      all.push_back({name + ", two rows, long", 2, 2176, {{format, 3, {}, false}}, true});
      all.push_back(
          {name + ", three rows, odd", 3, 77, {{format, 11, {2}, true}, {format, 5, {}, false}}, false});
      all.push_back({name + ", five rows", 5, 64, {{format, 33, {64}, true}}, false});
      all.push_back({name + ", forty rows", 40, 448, {{format, 50, {4, 9, 17}, false}}, true});
    }
    all.push_back(
        {"formats mixed", 2, 128, {{nf4, 12, {4}, false}, {int8, 7, {4}, true}, {fp4, 5, {}, false}}, false});
    all.push_back({"formats mixed, odd",
                   1,
                   66,
                   {{nf4, 12, {4}, false}, {fp4_single, 7, {}, true}, {bf16, 5, {}, false}},
                   false});
    all.push_back({"NF4 and FP4 in one group", 6, 128, {{nf4, 20, {4}, false}, {fp4, 20, {}, false}}, false});
    all.push_back({"one output", 2, 64, {{nf4, 1, {2}, true}}, true});
    all.push_back({"many adapters", 3, 64, {{nf4, 8, std::vector<std::int64_t>(26, 2), false}}, false});
    return all;
  }();
  return list;
}

struct Branch {
  reference::Lora values;
  Tensor a, b, xa;
};

Branch make_branch(Backend& backend, DType compute, std::int64_t rows, std::int64_t out, std::int64_t in,
                   std::int64_t rank, std::uint64_t seed) {
  Branch branch;
  branch.values.rank = rank;
  branch.values.scale = seed % 2 == 0 ? 1.0 : -0.5;
  branch.values.a = rounded(random_values(rank * in, seed, 0.1), compute);
  branch.values.b = rounded(random_values(out * rank, seed + 1, 0.2), compute);
  branch.a = make_tensor(backend, {rank, in}, DType::f32, branch.values.a);
  branch.b = make_tensor(backend, {out, rank}, DType::f32, branch.values.b);
  branch.xa = make_poisoned(backend, {rows, rank}, compute);
  return branch;
}

/// One part on the device, and what is expected of it.
struct Part {
  Weight weight;
  std::vector<Branch> branches;
  std::vector<LoraTerm> terms;
  Tensor y;
  reference::Linear want;
};

Part make_part(Backend& backend, DType compute, const Case& c, const PartCase& from, const Values& x,
               std::uint64_t seed) {
  Part part;
  part.weight = random_weight(backend, from.format, from.out, c.in, seed, from.bias);
  std::vector<reference::Lora> values;
  for (const std::int64_t rank : from.ranks) {
    seed += 3;
    part.branches.push_back(make_branch(backend, compute, c.rows, from.out, c.in, rank, seed));
    values.push_back(part.branches.back().values);
  }
  for (const Branch& branch : part.branches) {
    part.terms.push_back({branch.a, branch.b, static_cast<float>(branch.values.scale), branch.xa});
  }
  part.y = make_poisoned(backend, {c.rows, from.out}, compute);
  part.want = reference::linear_forward(x, values_of(backend, part.weight, compute),
                                        from.bias ? read_back(backend, part.weight.bias) : Values{}, values,
                                        {c.rows, from.out, c.in});
  return part;
}

}  // namespace

class TestSmallProduct : public QObject {
  Q_OBJECT

 private slots:
  void initTestCase() {
    std::string why;
    if (isa_is_missing(why)) QSKIP(why.c_str());
  }

  void groups_equal_the_reference_data() {
    QTest::addColumn<int>("compute");
    QTest::addColumn<int>("index");
    for (const DType compute : compute_types()) {
      for (std::size_t i = 0; i < cases().size(); ++i) {
        QTest::addRow("%s %s", to_string(compute), cases()[i].name.c_str())
            << static_cast<int>(compute) << static_cast<int>(i);
      }
    }
  }
  void groups_equal_the_reference() {
    QFETCH(int, compute);
    QFETCH(int, index);
    const auto type = static_cast<DType>(compute);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    const Values x = rounded(random_values(c.rows * c.in, 5), type);
    const Tensor xt = make_tensor(*backend, {c.rows, c.in}, type, x);
    std::vector<Part> parts;
    std::vector<LinearPart> operands;
    for (const PartCase& from : c.parts)
      parts.push_back(make_part(*backend, type, c, from, x, 100 * parts.size() + 3));
    for (const Part& part : parts) operands.push_back({&part.weight, part.terms, part.y});
    Tensor residual;
    if (c.residual) {
      Values before = rounded(random_values(c.rows * c.parts[0].out, 6), type);
      residual = make_tensor(*backend, {c.rows, c.parts[0].out}, type, before);
      for (std::size_t i = 0; i < before.size(); ++i) parts[0].want.y[i] += before[i];
    }
    backend->linear_group_forward(xt, operands, residual);
    Tolerance tolerance = tolerance_for(type, c.in);
    if (type == DType::bf16) tolerance.scaled += 0x1p-9;
    if (type == DType::f16) tolerance.scaled += 0x1p-12;
    for (const Part& part : parts) {
      QCOMPARE(difference(read_back(*backend, part.y), part.want.y, tolerance), std::string());
      for (std::size_t i = 0; i < part.branches.size(); ++i) {
        QCOMPARE(
            difference(read_back(*backend, part.branches[i].xa), part.want.xa[i], tolerance_for(type, c.in)),
            std::string());
      }
    }
  }

  void small_factors_keep_their_digits() {
    for (const DType compute : compute_types()) {
      for (const std::int64_t rows : {2, 6}) {
        const auto backend = test_backend(1);
        const Values nothing(static_cast<std::size_t>(20 * 64), 0.0);
        const auto zeros = [](std::int64_t, std::span<float> to) { std::fill(to.begin(), to.end(), 0.0f); };
        const Weight weight = make_weight(*backend, WeightFormat::nf4, 20, 64, zeros, "w");
        const Values x = rounded(random_values(rows * 64, 5), compute);
        Branch branch = make_branch(*backend, compute, rows, 20, 64, 4, 8);
        branch.values.scale = 3e-5;
        const LoraTerm term{branch.a, branch.b, 3e-5f, branch.xa};
        const Tensor y = make_poisoned(*backend, {rows, 20}, compute);
        backend->linear_forward(make_tensor(*backend, {rows, 64}, compute, x), weight, {&term, 1}, y,
                                Write::overwrite);
        const auto want = reference::linear_forward(x, nothing, {}, {branch.values}, {rows, 20, 64});
        Tolerance tolerance{compute == DType::f16 ? 3e-8 : 1e-10, 0, compute == DType::f32 ? 1e-6 : 0x1p-7};
        QCOMPARE(difference(read_back(*backend, y), want.y, tolerance), std::string());
      }
    }
  }

  void factors_may_lie_anywhere_in_their_arena() {
    constexpr std::int64_t in = 64, out = 21, rank = 5;
    for (const DType compute : compute_types()) {
      for (const std::int64_t rows : {1, 3, 6, 70}) {
        for (const std::int64_t shift : {1, 2, 3}) {
          const auto backend = test_backend(1);
          const Weight weight = random_weight(*backend, WeightFormat::nf4, out, in, 3);
          const Values x = rounded(random_values(rows * in, 5), compute);
          // The first branch lies as its allocation does, the second some numbers further on.
          const Branch first = make_branch(*backend, compute, rows, out, in, rank, 8);
          const Branch second = make_branch(*backend, compute, rows, out, in, rank, 10);
          const auto shifted = [&](const TensorView& view) {
            Tensor arena = make_poisoned(*backend, {shift + view.elements()}, DType::f32);
            TensorView moved = view;
            moved.data = arena.view().as<float>() + shift;
            backend->copy(moved, view);
            return std::pair{std::move(arena), moved};
          };
          const auto a = shifted(second.a), b = shifted(second.b);
          const LoraTerm terms[] = {{first.a, first.b, 1, first.xa}, {a.second, b.second, 1, second.xa}};
          const Tensor y = make_poisoned(*backend, {rows, out}, compute);
          backend->linear_forward(make_tensor(*backend, {rows, in}, compute, x), weight, terms, y,
                                  Write::overwrite);
          const auto want = reference::linear_forward(x, values_of(*backend, weight, compute), {},
                                                      {first.values, second.values}, {rows, out, in});
          const Tolerance tolerance = tolerance_for(compute, in + 2 * rank);
          QCOMPARE(difference(read_back(*backend, y), want.y, tolerance), std::string());
          QCOMPARE(difference(read_back(*backend, second.xa), want.xa[1], tolerance), std::string());
        }
      }
    }
  }

  void views_with_gaps_are_read_and_written_in_place() {
    const auto backend = test_backend(1);
    if (!backend->fuses_parts()) QSKIP("rows have no gaps on this device");
    for (const DType compute : compute_types()) {
      for (const std::int64_t rows : {2, 12}) {
        for (const std::int64_t gap : {3, 16}) {
          const std::int64_t in = 64, out = 21;
          const Weight weight = random_weight(*backend, WeightFormat::nf4, out, in, 3);
          const Values wide = rounded(random_values(rows * (in + gap), 5), compute);
          Values x;
          for (std::int64_t i = 0; i < rows * (in + gap); ++i) {
            if (i % (in + gap) < in) x.push_back(wide[static_cast<std::size_t>(i)]);
          }
          const Tensor xt = make_tensor(*backend, {rows, in + gap}, compute, wide);
          const Values before(static_cast<std::size_t>(rows * (out + gap)), 7.0);
          const Tensor y = make_tensor(*backend, {rows, out + gap}, compute, before);
          backend->linear_forward(xt.view().column_range(0, in), weight, {}, y.view().column_range(gap, out),
                                  Write::overwrite);
          const auto want =
              reference::linear_forward(x, values_of(*backend, weight, compute), {}, {}, {rows, out, in});
          const Values got = read_back(*backend, y);
          Values written;
          for (std::int64_t i = 0; i < rows * (out + gap); ++i) {
            if (i % (out + gap) >= gap) {
              written.push_back(got[static_cast<std::size_t>(i)]);
            } else {
              QCOMPARE(got[static_cast<std::size_t>(i)], 7.0);
            }
          }
          QCOMPARE(difference(written, want.y, tolerance_for(compute, in)), std::string());
        }
      }
    }
  }
};

QTEST_GUILESS_MAIN(TestSmallProduct)
#include "test_small_product.moc"
