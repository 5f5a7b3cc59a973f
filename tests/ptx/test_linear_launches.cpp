// SPDX-License-Identifier: Apache-2.0
// Launches and bytes of a group of linear layers in the layout that the back end asks for: three launches
// forward, four backward, and not 1.3 times the bytes that have to move (the design's performance page,
// kernels F2-F4 and B2-B4).
#include <QTest>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/kernels/linear_support.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

struct Group {
  const char* name;
  std::int64_t in;
  std::vector<std::int64_t> outs;
  std::int64_t out() const { return std::accumulate(outs.begin(), outs.end(), std::int64_t{0}); }
};

// The groups of a layer of a small Llama with grouped keys; more rows than the fused kernels for few rows
// take.
constexpr std::int64_t rows = 320, rank = 8;
const std::vector<Group>& groups() {
  static const std::vector<Group> list = {{"q, k and v", 128, {128, 64, 64}},
                                          {"o", 128, {128}},
                                          {"gate and up", 128, {320, 320}},
                                          {"down", 320, {128}}};
  return list;
}

/// A group's tensors: activations and gradients are columns of one buffer with room behind.
struct Operands {
  Operands(Backend& backend, const Group& group) {
    const std::int64_t ranks = rank * static_cast<std::int64_t>(group.outs.size());
    const auto keep = [&](Shape shape, DType dtype) {
      kept.push_back(
          make_tensor(backend, shape, dtype, random_values(shape.elements(), kept.size() + 1, 0.1)));
      return kept.back().view();
    };
    x = keep({rows, group.in + backend.tail_columns(group.in, ranks)}, DType::f16).column_range(0, group.in);
    const TensorView y = keep({rows, group.out() + backend.tail_columns(group.out(), ranks)}, DType::f16);
    dx = keep({rows, group.in}, DType::f16);
    std::int64_t column = 0;
    for (const std::int64_t out : group.outs) {
      weights.push_back(random_weight(backend, WeightFormat::nf4, out, group.in, 3));
      terms.push_back({keep({rank, group.in}, DType::f32), keep({out, rank}, DType::f32), 2,
                       keep({rows, rank}, DType::f16)});
      gradients.push_back({keep({rank, group.in}, DType::f32), keep({out, rank}, DType::f32)});
      ys.push_back(y.column_range(column, out));
      column += out;
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
      forward.push_back({&weights[i], {&terms[i], 1}, ys[i]});
      backward.push_back({ys[i], &weights[i], &terms[i], &gradients[i]});
    }
  }
  std::vector<Tensor> kept;
  TensorView x, dx;
  std::vector<TensorView> ys;
  std::vector<Weight> weights;
  std::vector<LoraTerm> terms;
  std::vector<LoraGradient> gradients;
  std::vector<LinearPart> forward;
  std::vector<LinearBackwardPart> backward;
};

/// What must move: the stored weight, its 16-bit copy out and in again, x, y and dy as often as a step reads
/// or writes them, factors and their gradients.
std::int64_t least_bytes(const Group& group, bool is_backward) {
  const std::int64_t in = group.in, out = group.out(), parts = static_cast<std::int64_t>(group.outs.size());
  const std::int64_t ranks = rank * parts, weights = in * out;
  const std::int64_t stored = weights / 2 + weights / 64,
                     copies = 2 * 2 * (weights + rank * (out + parts * in));
  const std::int64_t factors = 4 * rank * (parts * in + out);
  if (!is_backward) {
    return stored + factors + copies + 2 * rows * (in + 2 * ranks) + 2 * rows * (in + ranks + out);
  }
  const std::int64_t shrink = 2 * rows * (out + ranks), product = 2 * rows * (out + ranks + in);
  return stored + factors + copies + shrink + product + 2 * rows * (in + out + 2 * ranks) + 2 * factors;
}

}  // namespace

class TestLinearLaunches : public QObject {
  Q_OBJECT
 private slots:
  void a_group_takes_few_launches_and_bytes_data() {
    QTest::addColumn<int>("index");
    for (std::size_t i = 0; i < groups().size(); ++i) QTest::newRow(groups()[i].name) << static_cast<int>(i);
  }
  void a_group_takes_few_launches_and_bytes() {
    QFETCH(int, index);
    const Group& group = groups()[static_cast<std::size_t>(index)];
    const auto backend = test_backend(1);
    const Operands operands(*backend, group);
    measure(*backend, group, false, 3, [&] {
      const bool adds = group.outs.size() == 1;
      backend->linear_group_forward(operands.x, operands.forward, adds ? operands.ys[0] : TensorView{});
    });
    measure(*backend, group, true, 4, [&] {
      backend->linear_group_backward(operands.backward, operands.x, operands.dx, Write::overwrite);
    });
  }

 private:
  static void measure(Backend& backend, const Group& group, bool is_backward, std::uint64_t launches_wanted,
                      const std::function<void()>& work) {
    backend.synchronize();
    ptx::reset_traffic(true);
    work();
    backend.synchronize();
    std::uint64_t launches = 0, bytes = 0;
    for (const ptx::LaunchTotals& total : ptx::traffic()) {
      launches += total.launches;
      bytes += total.bytes();
      std::printf("  %-60s %2llu launches %9llu bytes\n", total.name.c_str(),
                  static_cast<unsigned long long>(total.launches),
                  static_cast<unsigned long long>(total.bytes()));
    }
    const std::int64_t added = !is_backward && group.outs.size() == 1 ? 2 * rows * group.out() : 0;
    const double ratio =
        static_cast<double>(bytes) / static_cast<double>(least_bytes(group, is_backward) + added);
    std::printf("%-12s %s: %llu launches, %llu bytes, %.3f of the least\n", group.name,
                is_backward ? "backward" : "forward", static_cast<unsigned long long>(launches),
                static_cast<unsigned long long>(bytes), ratio);
    ptx::reset_traffic(false);
    QCOMPARE(launches, launches_wanted);
    QVERIFY(ratio > 0.8 && ratio <= 1.3);
  }
};

QTEST_GUILESS_MAIN(TestLinearLaunches)
#include "test_linear_launches.moc"
