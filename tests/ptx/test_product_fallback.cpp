// SPDX-License-Identifier: Apache-2.0
// Products go on by kernels of our own where cublasLt fails.
#include <cublasLt.h>

#include <QtTest>
#include <thread>

#include "kernels/base/error.h"
#include "tests/kernels/linear_support.h"
#include "tests/ptx/card.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

constexpr std::int64_t rows = 9, out = 20, in = 33;

/// A linear layer in f32 of more rows than the kernels for few rows take, and what it has to give.
struct Layer {
  explicit Layer(Backend& backend)
      : weight(random_weight(backend, WeightFormat::f32, out, in, 3)),
        x(make_tensor(backend, {rows, in}, DType::f32, values)),
        y(make_poisoned(backend, {rows, out}, DType::f32)),
        want(
            reference::linear_forward(values, values_of(backend, weight, DType::f32), {}, {}, {rows, out, in})
                .y) {}
  void run(Backend& backend) const { backend.linear_forward(x, weight, {}, y, Write::overwrite); }
  /// Products of cublasLt in another run, whose result is right.
  int products(Backend& backend) const {
    backend.synchronize();
    ptx::reset_traffic();
    run(backend);
    const std::string wrong = difference(read_back(backend, y), want, tolerance_for(DType::f32, in));
    if (!wrong.empty()) throw std::runtime_error(wrong);
    int count = 0;
    for (const ptx::LaunchTotals& total : ptx::traffic()) {
      if (total.kind == ptx::LaunchKind::product) count += static_cast<int>(total.launches);
    }
    return count;
  }
  Values values = rounded(random_values(rows * in, 5), DType::f32);
  Weight weight;
  Tensor x, y;
  Values want;
};

}  // namespace

class TestProductFallback : public QObject {
  Q_OBJECT

 private slots:
  void a_product_that_works_is_cublas_lts() {
    const Card card;
    const Layer layer(*card);
    QCOMPARE(layer.products(*card), 1);
    QCOMPARE(layer.products(*card), 1);
  }

  void a_product_that_fails_is_made_by_own_kernels_data() {
    QTest::addColumn<int>("status");
    QTest::newRow("not supported") << int{CUBLAS_STATUS_NOT_SUPPORTED};
    QTest::newRow("execution failed") << int{CUBLAS_STATUS_EXECUTION_FAILED};
    QTest::newRow("no memory") << int{CUBLAS_STATUS_ALLOC_FAILED};
    QTest::newRow("internal error") << int{CUBLAS_STATUS_INTERNAL_ERROR};
  }
  void a_product_that_fails_is_made_by_own_kernels() {
    QFETCH(int, status);
    const Card card;
    const Layer layer(*card);
    ptx::fail_product(status);
    QCOMPARE(layer.products(*card), 0);
    QCOMPARE(layer.products(*card), 0);  // and is not tried again
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void no_memory_for_the_workspace_ends_no_run() {
    const Card card;
    const Layer layer(*card);
    ptx::fail_allocation(1);
    QCOMPARE(layer.products(*card), 0);
    QCOMPARE(layer.products(*card), 0);
  }
  void a_limit_below_the_workspace_ends_no_run() {
    ptx::restart();
    const auto backend = make_cuda_backend({.device = "cuda", .threads = 0, .memory_limit_bytes = 100'000});
    const Layer layer(*backend);
    QCOMPARE(layer.products(*backend), 0);
  }

  void a_lost_device_is_an_error() {
    const Card card;
    const Layer layer(*card);
    TensorView nowhere = layer.y.view();
    nowhere.data = layer.y.view().as<float>() + (std::int64_t{1} << 24);
    card->add(layer.y, nowhere);
    QVERIFY(throws([&] { card->synchronize(); }, ErrorCode::device));
    QVERIFY(throws([&] { layer.run(*card); }, ErrorCode::device));
    QVERIFY(!ptx::complaint().empty());
  }

  void a_thread_whose_first_call_is_a_product_chooses_the_device() {
    const Card card;
    const Layer layer(*card);
    int products = 0;
    std::thread([&] {
      ptx::reset_traffic();
      layer.run(*card);
    }).join();
    card->synchronize();
    for (const ptx::LaunchTotals& total : ptx::traffic()) {
      if (total.kind == ptx::LaunchKind::product) products += static_cast<int>(total.launches);
    }
    QCOMPARE(products, 1);
  }
};

QTEST_GUILESS_MAIN(TestProductFallback)
#include "test_product_fallback.moc"
