// SPDX-License-Identifier: Apache-2.0
// Linear layers that read the same input, in the layouts that a transformer gives them.
#include <QTest>
#include <cmath>
#include <limits>

#include "tests/kernels/kernel_test.h"
#include "tests/kernels/linear_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

/// How the parts of one operand lie in memory: columns of one buffer, with or without spare columns behind
/// them, or a tensor each. Only back ends that fuse parts know the first two.
enum class Layout { side_by_side, without_room, separate };

const char* name_of(Layout layout) {
  return layout == Layout::side_by_side ? "side by side"
         : layout == Layout::separate   ? "separate"
                                        : "no room";
}

/// The matrices of one operand; what is around them is NaN.
class Columns {
 public:
  Columns(Backend& backend, Layout layout, std::int64_t rows, const std::vector<std::int64_t>& widths,
          DType dtype, const std::vector<Values>& contents, std::int64_t ranks = 0)
      : rows_(rows), widths_(widths) {
    std::int64_t total = 0;
    for (const std::int64_t width : widths) total += width;
    if (layout == Layout::separate) {
      for (std::size_t i = 0; i < widths.size(); ++i) add(backend, dtype, widths[i], {i}, contents);
    } else {
      std::vector<std::size_t> all;
      for (std::size_t i = 0; i < widths.size(); ++i) all.push_back(i);
      const std::int64_t room = layout == Layout::side_by_side ? backend.tail_columns(total, ranks) : 0;
      add(backend, dtype, total + room, all, contents);
    }
  }

  const TensorView& view(std::size_t i) const { return views_[i]; }
  Values values(Backend& backend, std::size_t i) const {
    const Values all = read_back(backend, storage_[owner_[i]]);
    return piece(all, storage_[owner_[i]].view().columns(), first_[i], widths_[i]);
  }
  /// Whether the columns behind the last matrix are NaN still.
  bool room_is_untouched(Backend& backend) const {
    const Tensor& last = storage_.back();
    const std::int64_t used = first_.back() + widths_.back();
    for (const double v :
         piece(read_back(backend, last), last.view().columns(), used, last.view().columns() - used)) {
      if (!std::isnan(v)) return false;
    }
    return true;
  }
  void replace(Backend& backend, const std::vector<Values>& contents) {
    for (std::size_t s = 0; s < storage_.size(); ++s) {
      const Tensor fresh =
          make_tensor(backend, storage_[s].shape(), storage_[s].dtype(), filled(s, contents));
      backend.copy(storage_[s], fresh);
    }
  }

 private:
  Values piece(const Values& all, std::int64_t stride, std::int64_t first, std::int64_t width) const {
    Values part;
    for (std::int64_t row = 0; row < rows_; ++row) {
      part.insert(part.end(), all.begin() + row * stride + first, all.begin() + row * stride + first + width);
    }
    return part;
  }
  Values filled(std::size_t storage, const std::vector<Values>& contents) const {
    const std::int64_t stride = strides_[storage];
    Values all(static_cast<std::size_t>(rows_ * stride), std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < std::min(contents.size(), owner_.size()); ++i) {
      if (owner_[i] != storage) continue;
      for (std::int64_t row = 0; row < rows_; ++row) {
        std::copy_n(contents[i].begin() + row * widths_[i], widths_[i],
                    all.begin() + row * stride + first_[i]);
      }
    }
    return all;
  }
  void add(Backend& backend, DType dtype, std::int64_t stride, const std::vector<std::size_t>& members,
           const std::vector<Values>& contents) {
    std::int64_t first = 0;
    for (const std::size_t i : members) {
      owner_.push_back(storage_.size());
      first_.push_back(first);
      first += widths_[i];
    }
    strides_.push_back(stride);
    storage_.push_back(make_tensor(backend, {rows_, stride}, dtype, filled(storage_.size(), contents)));
    for (const std::size_t i : members) {
      views_.push_back(storage_.back().view().column_range(first_[i], widths_[i]));
    }
  }

  std::int64_t rows_;
  std::vector<std::int64_t> widths_, first_, strides_;
  std::vector<std::size_t> owner_;
  std::vector<Tensor> storage_;
  std::vector<TensorView> views_;
};

struct Case {
  const char* what;
  WeightFormat format;
  std::int64_t rows, in;
  std::vector<std::int64_t> outs;
  std::vector<std::vector<std::int64_t>> ranks;  ///< of the branches of each part
  bool bias = false;
  enum Residual { none, own, y_itself } residual = none;
  float dropout = 0;
  bool every_other = false;  ///< only every other branch has dropout
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"q, k and v", WeightFormat::nf4, 37, 128, {64, 32, 32}, {{8}, {8}, {8}}},
      {"q, k and v with bias", WeightFormat::nf4, 70, 96, {48, 16, 16}, {{1}, {3}, {7}}, true},
      {"gate and up", WeightFormat::nf4_single, 65, 64, {72, 72}, {{33}, {33}}},
      {"o", WeightFormat::bf16, 33, 64, {70}, {{5}}, false, Case::own},
      {"down", WeightFormat::fp4, 20, 100, {64}, {{4, 9}}, true, Case::y_itself},
      {"without branches", WeightFormat::f16, 19, 72, {24, 40}, {{}, {}}},
      {"bias without branches", WeightFormat::f32, 18, 64, {24, 40}, {{}, {}}, true},
      {"a branch for one of two", WeightFormat::int8, 17, 64, {40, 24}, {{}, {8}}},
      {"odd widths", WeightFormat::nf4, 21, 35, {17, 9}, {{3}, {2}}, true},
      {"many adapters", WeightFormat::nf4, 18, 64, {32}, {std::vector<std::int64_t>(26, 2)}},
      {"a wide rank", WeightFormat::f32, 70, 64, {48, 16}, {{70}, {130}}},
      // More rows than the kernels for few rows take.
      {"q, k and v of many rows", WeightFormat::nf4, 270, 64, {40, 16, 16}, {{7}, {7}, {7}}, true},
      {"down of many rows", WeightFormat::nf4, 263, 128, {24}, {{33, 3}}, false, Case::y_itself},
      // Enough for the large tiles of a small card.
      {"wide ranks of many rows", WeightFormat::bf16, 400, 64, {32, 24}, {{64}, {64}}},
      {"large tiles", WeightFormat::int8, 390, 136, {136}, {{8}}, true},
      {"FP4 of many rows", WeightFormat::fp4_single, 260, 100, {24}, {{4}}},
      {"int8 of many rows", WeightFormat::int8, 260, 35, {17}, {{3}}},
      {"one row", WeightFormat::nf4, 1, 64, {32, 16}, {{4}, {4}}},
      {"q, k and v with dropout",
       WeightFormat::nf4,
       37,
       128,
       {64, 32, 32},
       {{8}, {8}, {8}},
       false,
       Case::none,
       0.1f},
      {"o with dropout", WeightFormat::bf16, 33, 66, {70}, {{5}}, true, Case::own, 0.5f},
      {"gate and up with much dropout",
       WeightFormat::f32,
       70,
       61,
       {48, 16},
       {{70}, {130}},
       false,
       Case::none,
       0.9f},
      {"one of two with dropout",
       WeightFormat::int8,
       65,
       72,
       {40, 24},
       {{3}, {8}},
       true,
       Case::none,
       0.25f,
       true},
      {"dropout beside a part without branch",
       WeightFormat::nf4,
       17,
       64,
       {40, 24},
       {{}, {8}},
       false,
       Case::none,
       0.25f},
      {"many adapters with dropout",
       WeightFormat::fp4,
       18,
       64,
       {32},
       {std::vector<std::int64_t>(26, 2)},
       false,
       Case::y_itself,
       0.2f,
       true},
      {"few rows with dropout", WeightFormat::nf4, 2, 64, {32, 16}, {{4}, {4}}, false, Case::none, 0.3f},
      {"many rows with dropout",
       WeightFormat::nf4,
       270,
       136,
       {40, 16, 16},
       {{7}, {33}, {7}},
       true,
       Case::none,
       0.05f},
  };
  return list;
}

/// What a group is made of, on the device and as doubles.
struct Group {
  Group(Backend& on, const Case& of, DType type) : backend(on), c(of), compute(type) {
    x = rounded(random_values(c.rows * c.in, 5), compute);
    const Indices drawn = random_keys(c.rows, 99);
    keys = make_keys(backend, drawn);
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      weights.push_back(random_weight(backend, c.format, c.outs[i], c.in, 3 + i, c.bias));
      w.push_back(values_of(backend, weights[i], compute));
      lora.emplace_back();
      tensors.emplace_back();
      terms.emplace_back();
      for (std::size_t j = 0; j < c.ranks[i].size(); ++j)
        add_branch(i, c.ranks[i][j], 100 * i + 10 * j + 20, drawn);
    }
  }

  void add_branch(std::size_t part, std::int64_t rank, std::uint64_t seed, const Indices& drawn) {
    reference::Lora values;
    values.rank = rank;
    values.scale = seed % 3 == 0 ? -0.5 : 1.5;
    values.a = rounded(random_values(rank * c.in, seed, 0.2), compute);
    values.b = rounded(random_values(c.outs[part] * rank, seed + 1, 0.2), compute);
    std::vector<Tensor>& own = tensors[part];
    own.push_back(make_tensor(backend, {rank, c.in}, DType::f32, values.a));
    own.push_back(make_tensor(backend, {c.outs[part], rank}, DType::f32, values.b));
    own.push_back(make_poisoned(backend, {c.rows, rank}, compute));
    const std::size_t n = own.size();
    terms[part].push_back({own[n - 3], own[n - 2], static_cast<float>(values.scale), own[n - 1]});
    const auto place = static_cast<std::uint32_t>(7 * part + lora[part].size());
    if (c.dropout != 0 && (!c.every_other || place % 2 == 0)) {
      terms[part].back().dropout = {c.dropout, keys, place};
      values.mask = dropout_mask(drawn, c.in, c.dropout, place);
    }
    lora[part].push_back(std::move(values));
  }

  std::int64_t ranks() const {
    std::int64_t sum = 0;
    for (const auto& part : c.ranks) {
      for (const std::int64_t rank : part) sum += rank;
    }
    return sum;
  }
  reference::Linear want(std::size_t part, const Values& input) const {
    const Values bias = c.bias ? read_back(backend, weights[part].bias) : Values{};
    return reference::linear_forward(input, w[part], bias, lora[part], {c.rows, c.outs[part], c.in});
  }

  Backend& backend;
  const Case& c;
  DType compute;
  Values x;
  Tensor keys;
  std::vector<Weight> weights;
  std::vector<Values> w;
  std::vector<std::vector<reference::Lora>> lora;
  std::vector<std::vector<Tensor>> tensors;
  std::vector<std::vector<LoraTerm>> terms;
};

Tolerance allowed(DType compute, std::int64_t terms) {
  Tolerance tolerance = tolerance_for(compute, terms);
  if (compute == DType::bf16) tolerance.scaled += 0x1p-8;
  if (compute == DType::f16) tolerance = {1e-5, 0x1p-10, 0x1p-10};
  return tolerance;
}

}  // namespace

class TestLinearGroup : public KernelTest {
  Q_OBJECT

  static void add_rows() {
    QTest::addColumn<int>("index");
    QTest::addColumn<DType>("compute");
    QTest::addColumn<Layout>("layout");
    for (std::size_t i = 0; i < cases().size(); ++i) {
      for (const DType compute : {DType::f32, DType::bf16, DType::f16}) {
        for (const Layout layout : {Layout::side_by_side, Layout::without_room, Layout::separate}) {
          QTest::addRow("%s, %s, %s", cases()[i].what, to_string(compute), name_of(layout))
              << static_cast<int>(i) << compute << layout;
        }
      }
    }
  }

  /// Why this back end has no such row; empty when it has.
  static std::string missing(const Backend& backend, DType compute, Layout layout) {
    if (!backend.supports(compute)) return std::string(to_string(compute)) + " is not computed in here";
    if (layout != Layout::separate && !backend.fuses_parts()) return "parts are tensors of their own here";
    return {};
  }

 private slots:
  void forward_equals_the_reference_data() { add_rows(); }
  void forward_equals_the_reference() {
    QFETCH(int, index);
    QFETCH(DType, compute);
    QFETCH(Layout, layout);
    const Case& c = cases()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(2);
    if (const std::string why = missing(*backend, compute, layout); !why.empty()) QSKIP(why.c_str());
    const Group group(*backend, c, compute);
    const Values before = rounded(random_values(c.rows * c.outs[0], 6), compute);
    const Columns x(*backend, layout, c.rows, {c.in}, compute, {group.x}, group.ranks());
    const Columns residual(*backend, layout, c.rows, {c.outs[0]}, compute, {before});
    const Columns y(*backend, layout, c.rows, c.outs, compute,
                    c.residual == Case::y_itself ? std::vector<Values>{before} : std::vector<Values>{}, 8);
    std::vector<LinearPart> parts;
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      parts.push_back({&group.weights[i], group.terms[i], y.view(i)});
    }
    const TensorView added = c.residual == Case::none  ? TensorView{}
                             : c.residual == Case::own ? residual.view(0)
                                                       : y.view(0);
    backend->linear_group_forward(x.view(0), parts, added);

    QVERIFY(y.room_is_untouched(*backend));
    compare(x.values(*backend, 0), group.x, Tolerance{1e-30, 0, 0}, "x afterwards");
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      reference::Linear want = group.want(i, group.x);
      for (std::size_t j = 0; added && j < before.size(); ++j) want.y[j] += before[j];
      compare(y.values(*backend, i), want.y, allowed(compute, c.in), "y");
      for (std::size_t j = 0; j < c.ranks[i].size(); ++j) {
        compare(read_back(*backend, group.terms[i][j].xa), want.xa[j], allowed(compute, c.in), "xa");
      }
    }
  }

  void backward_equals_the_reference_data() { add_rows(); }
  void backward_equals_the_reference() {
    QFETCH(int, index);
    QFETCH(DType, compute);
    QFETCH(Layout, layout);
    const auto backend = test_backend(2);
    if (const std::string why = missing(*backend, compute, layout); !why.empty()) QSKIP(why.c_str());
    const Group group(*backend, cases()[static_cast<std::size_t>(index)], compute);
    enum Dx { overwritten, added_to, left_out };
    for (const Dx dx : {overwritten, added_to, left_out}) {
      backward(group, layout, dx != left_out, dx == added_to ? Write::accumulate : Write::overwrite);
      if (QTest::currentTestFailed()) return;
    }
  }

  void repeated_work_sees_new_contents() {
    for (const DType compute : {DType::f32, DType::f16}) {
      const auto backend = test_backend(2);
      if (!backend->supports(compute)) continue;
      const Layout layout = backend->fuses_parts() ? Layout::side_by_side : Layout::separate;
      const Case& c = cases()[0];
      const Group group(*backend, c, compute);
      Columns x(*backend, layout, c.rows, {c.in}, compute, {group.x}, group.ranks());
      const Columns y(*backend, layout, c.rows, c.outs, compute, {}, 8);
      std::vector<LinearPart> parts;
      for (std::size_t i = 0; i < c.outs.size(); ++i) {
        parts.push_back({&group.weights[i], group.terms[i], y.view(i)});
      }
      for (std::uint64_t seed = 50; seed < 53; ++seed) {
        const Values input = rounded(random_values(c.rows * c.in, seed), compute);
        x.replace(*backend, {input});
        backend->repeat(1, [&] { backend->linear_group_forward(x.view(0), parts, {}); });
        for (std::size_t i = 0; i < c.outs.size(); ++i) {
          compare(y.values(*backend, i), group.want(i, input).y, allowed(compute, c.in), "y");
        }
      }
    }
  }

  void f32_is_exact_to_a_millionth() {
    const auto backend = test_backend(2);
    const Case c{"", WeightFormat::f32, 20, 2000, {24}, {{8}}};
    const Group group(*backend, c, DType::f32);
    const Tensor x = make_tensor(*backend, {c.rows, c.in}, DType::f32, group.x);
    const Tensor y = make_poisoned(*backend, {c.rows, c.outs[0]}, DType::f32);
    backend->linear_forward(x, group.weights[0], group.terms[0], y, Write::overwrite);
    const Values got = read_back(*backend, y), want = group.want(0, group.x).y;
    double error = 0, size = 0;
    for (std::size_t i = 0; i < got.size(); ++i) {
      error += (got[i] - want[i]) * (got[i] - want[i]);
      size += want[i] * want[i];
    }
    QVERIFY2(std::sqrt(error / size) <= 1e-6, std::to_string(std::sqrt(error / size)).c_str());
  }

 private:
  static void backward(const Group& group, Layout layout, bool with_dx, Write write) {
    Backend& backend = group.backend;
    const Case& c = group.c;
    const DType compute = group.compute;
    const Columns x(backend, layout, c.rows, {c.in}, compute, {group.x}, group.ranks());
    const Values before = rounded(random_values(c.rows * c.in, 8), compute);
    const Columns dx(backend, layout, c.rows, {c.in}, compute,
                     write == Write::accumulate ? std::vector<Values>{before} : std::vector<Values>{}, 8);
    std::vector<Values> dy_values;
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      dy_values.push_back(rounded(random_values(c.rows * c.outs[i], 70 + i), compute));
    }
    const Columns dy(backend, layout, c.rows, c.outs, compute, dy_values, group.ranks());
    Values want_dx = write == Write::accumulate ? before : Values(before.size(), 0.0);
    std::vector<LinearBackwardPart> parts;
    std::vector<LoraTerm> terms(c.outs.size());
    std::vector<LoraGradient> gradients(c.outs.size());
    std::vector<Tensor> owned;
    std::vector<reference::LinearGradients> wanted;
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      const bool branch = !c.ranks[i].empty();
      const reference::Lora* values = branch ? &group.lora[i][0] : nullptr;
      wanted.push_back(
          reference::linear_backward(dy_values[i], group.x, group.w[i], values, {c.rows, c.outs[i], c.in}));
      for (std::size_t j = 0; j < want_dx.size(); ++j) want_dx[j] += wanted[i].dx[j];
      parts.push_back({dy.view(i), &group.weights[i], nullptr, nullptr});
      if (!branch) continue;
      const std::int64_t rank = c.ranks[i][0];
      const Values a = random_values(rank * c.in, 30, 0.5), b = random_values(rank * c.outs[i], 31, 0.5);
      for (std::size_t j = 0; j < a.size(); ++j) wanted[i].da[j] += a[j];
      for (std::size_t j = 0; j < b.size(); ++j) wanted[i].db[j] += b[j];
      owned.push_back(make_tensor(backend, {rank, c.in}, DType::f32, a));
      owned.push_back(make_tensor(backend, {c.outs[i], rank}, DType::f32, b));
      gradients[i] = {owned[owned.size() - 2], owned[owned.size() - 1]};
      owned.push_back(
          make_tensor(backend, {c.rows, rank}, compute, rounded(group.want(i, group.x).xa[0], compute)));
      terms[i] = group.terms[i][0];
      terms[i].xa = owned.back();
      parts[i].lora = &terms[i];
      parts[i].gradient = &gradients[i];
    }
    backend.linear_group_backward(parts, x.view(0), with_dx ? dx.view(0) : TensorView{}, write);

    if (with_dx) {
      QVERIFY(dx.room_is_untouched(backend));
      compare(dx.values(backend, 0), want_dx, allowed(compute, c.outs[0]), "dx");
    }
    for (std::size_t i = 0; i < c.outs.size(); ++i) {
      compare(dy.values(backend, i), dy_values[i], Tolerance{1e-30, 0, 0}, "dy afterwards");
      if (!parts[i].lora) continue;
      compare(read_back(backend, gradients[i].a), wanted[i].da, allowed(compute, c.rows + c.outs[i]), "dA");
      compare(read_back(backend, gradients[i].b), wanted[i].db, allowed(compute, c.rows + c.in), "dB");
    }
  }
};

QTEST_GUILESS_MAIN(TestLinearGroup)
#include "test_linear_group.moc"
