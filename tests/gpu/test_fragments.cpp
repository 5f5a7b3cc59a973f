// SPDX-License-Identifier: Apache-2.0
// Known answers of the instructions that kernels are built on. Layouts: PTX ISA, "Matrix fragments for
// mma.m16n8k16", "for mma.m16n8k8" and ldmatrix: lane = 4 group + member; a: rows group and group + 8,
// columns 2 member (+ 8); b: rows (k) 2 member (+ 8), column group; d: rows group and group + 8, columns 2
// member.
#include <QtTest>
#include <functional>
#include <vector>

#include "kernels/base/half.h"
#include "kernels/cuda/cuda_backend.h"
#include "tests/gpu/fragments.h"
#include "tests/kernels/op_support.h"

using namespace lorikeet;
using namespace lorikeet::testing;

namespace {

using Words = std::vector<std::uint32_t>;

/// Small whole numbers, exact in every type.
float element(int row, int column, int seed) {
  return static_cast<float>((row * 7 + column * 5 + seed) % 13 - 6);
}

std::uint32_t pair(bool bf16, float low, float high) {
  const auto bits = [&](float v) { return std::uint32_t{bf16 ? f32_to_bf16(v) : f32_to_f16(v)}; };
  return bits(low) | bits(high) << 16;
}

/// d of 16 x 8 after one mma of depth k, lane by lane as the instruction gives it.
std::vector<float> wanted(int k) {
  std::vector<float> d;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
      float sum = 100;  // what was in d
      for (int j = 0; j < k; ++j) sum += element(row, j, 1) * element(j, column, 2);
      d.push_back(sum);
    }
  }
  return d;
}

}  // namespace

class TestFragments : public QObject {
  Q_OBJECT

 private slots:
  void products_have_the_layout_of_the_manual_data() {
    QTest::addColumn<int>("k");
    QTest::addColumn<bool>("bf16");
    QTest::newRow("m16n8k16 f16") << 16 << false;
    QTest::newRow("m16n8k16 bf16") << 16 << true;
    QTest::newRow("m16n8k8 f16") << 8 << false;
  }
  void products_have_the_layout_of_the_manual() {
    QFETCH(int, k);
    QFETCH(bool, bf16);
    const auto backend = test_backend(1);
    if (bf16 && !backend->supports(DType::bf16)) QSKIP("this card has no bf16 products");
    Words a, b;
    for (int lane = 0; lane < 32; ++lane) {
      const int group = lane / 4, member = lane % 4;
      for (int i = 0; i < k / 4; ++i) {
        const int row = group + i % 2 * 8, column = member * 2 + i / 2 * 8;
        a.push_back(pair(bf16, element(row, column, 1), element(row, column + 1, 1)));
      }
      for (int i = 0; i < k / 8; ++i) {
        const int row = member * 2 + i * 8;
        b.push_back(pair(bf16, element(row, group, 2), element(row + 1, group, 2)));
      }
    }
    const Tensor at = upload(*backend, a), bt = upload(*backend, b);
    const Tensor d = make_tensor(*backend, {128}, DType::f32, Values(128, 100.0));
    const cudaStream_t stream = static_cast<cuda::CudaBackend&>(*backend).stream();
    if (k == 16)
      start_mma_k16(stream, bf16, at.view().as<std::uint32_t>(), bt.view().as<std::uint32_t>(),
                    d.view().as<float>());
    else
      start_mma_k8(stream, at.view().as<std::uint32_t>(), bt.view().as<std::uint32_t>(),
                   d.view().as<float>());
    const std::vector<float> want = wanted(k);
    QVERIFY(read_back(*backend, d) == Values(want.begin(), want.end()));
  }

  void matrices_are_loaded_row_by_row_and_transposed_data() {
    QTest::addColumn<bool>("transposed");
    QTest::newRow("as they lie") << false;
    QTest::newRow("transposed") << true;
  }
  void matrices_are_loaded_row_by_row_and_transposed() {
    QFETCH(bool, transposed);
    const auto backend = test_backend(1);
    std::vector<std::uint16_t> elements;
    for (std::uint16_t i = 0; i < 256; ++i) elements.push_back(static_cast<std::uint16_t>(1000 + i));
    const Tensor from = backend->allocate({512}, DType::u8);
    backend->upload(from, elements.data());
    const Tensor to = make_poisoned(*backend, {128}, DType::i32);
    start_ldmatrix(static_cast<cuda::CudaBackend&>(*backend).stream(), transposed,
                   from.view().as<std::uint16_t>(), to.view().as<std::uint32_t>());
    Words got(128);
    backend->download(got.data(), to);
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t i = 0; i < 4; ++i) {
        const auto at = [&](std::uint32_t j) {
          const std::uint32_t row = transposed ? lane % 4 * 2 + j : lane / 4;
          const std::uint32_t column = transposed ? lane / 4 : lane % 4 * 2 + j;
          return 1000 + i * 64 + row * 8 + column;
        };
        QCOMPARE(got[lane * 4 + i], at(0) | at(1) << 16);
      }
    }
  }

  void copies_of_16_bytes_arrive_or_give_zeros() {
    const auto backend = test_backend(1);
    Words numbers;
    for (std::uint32_t i = 0; i < 128; ++i) numbers.push_back(7 * i + 1);
    const Tensor from = upload(*backend, numbers), to = make_poisoned(*backend, {128}, DType::i32);
    start_cp_async(static_cast<cuda::CudaBackend&>(*backend).stream(), from.view().as<std::uint32_t>(),
                   to.view().as<std::uint32_t>());
    Words got(128);
    backend->download(got.data(), to);
    for (std::uint32_t i = 0; i < 128; ++i) QCOMPARE(got[i], i / 4 % 2 == 0 ? numbers[i] : 0u);
  }

 private:
  static Tensor upload(Backend& backend, const Words& words) {
    Tensor tensor = backend.allocate({static_cast<std::int64_t>(words.size())}, DType::i32);
    backend.upload(tensor, words.data());
    return tensor;
  }
};

QTEST_GUILESS_MAIN(TestFragments)
#include "test_fragments.moc"
