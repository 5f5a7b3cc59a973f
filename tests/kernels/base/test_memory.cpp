// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <utility>

#include "kernels/base/error.h"
#include "kernels/base/memory_budget.h"
#include "kernels/tensor.h"

using namespace lorikeet;

namespace {

/// Counts what it got back.
class CountingMemory : public DeviceMemory {
 public:
  Tensor allocate(Shape shape, DType dtype) {
    TensorView view{nullptr, dtype, shape};
    view.data =
        std::aligned_alloc(64, (static_cast<std::size_t>(shape.elements()) * size_of(dtype) + 63) / 64 * 64);
    return {this, view};
  }
  void deallocate(void* data, std::size_t bytes) noexcept override {
    std::free(data);
    bytes_returned += bytes;
    ++returns;
  }
  std::size_t bytes_returned = 0;
  int returns = 0;
};

bool refuses(const std::function<void()>& call, ErrorCode code) {
  try {
    call();
  } catch (const Error& error) {
    return error.code() == code;
  }
  return false;
}

}  // namespace

class TestMemory : public QObject {
  Q_OBJECT
 private slots:
  void a_budget_counts_and_remembers_its_peak() {
    MemoryBudget budget(100);
    budget.acquire(60);
    budget.release(50);
    budget.acquire(30);
    QCOMPARE(budget.used_bytes(), std::uint64_t{40});
    QCOMPARE(budget.peak_bytes(), std::uint64_t{60});
  }

  void a_budget_refuses_above_its_limit_and_counts_nothing_then() {
    MemoryBudget budget(100);
    budget.acquire(60);
    QVERIFY(refuses([&] { budget.acquire(41); }, ErrorCode::out_of_memory));
    QVERIFY(refuses([&] { budget.acquire(UINT64_MAX); }, ErrorCode::out_of_memory));
    QCOMPARE(budget.used_bytes(), std::uint64_t{60});
    budget.acquire(40);
    QCOMPARE(budget.used_bytes(), std::uint64_t{100});
  }

  void a_budget_without_a_limit_refuses_nothing() {
    MemoryBudget budget;
    budget.acquire(std::uint64_t{1} << 50);
    QCOMPARE(budget.used_bytes(), std::uint64_t{1} << 50);
  }

  void a_tensor_returns_its_memory_once_however_often_it_moves() {
    CountingMemory memory;
    {
      Tensor a = memory.allocate({3, 5}, DType::f32);
      Tensor b = std::move(a);
      QVERIFY(!a);
      a = std::move(b);
      QVERIFY(a && !b);
      a = memory.allocate({2}, DType::f64);
      QCOMPARE(memory.returns, 1);
    }
    QCOMPARE(memory.returns, 2);
    QCOMPARE(memory.bytes_returned, std::size_t{3 * 5 * 4 + 2 * 8});
  }

  void an_arena_hands_out_aligned_memory_that_does_not_overlap() {
    CountingMemory memory;
    Arena arena(memory.allocate({1024}, DType::u8));
    const TensorView a = arena.take({3}, DType::f32);
    const TensorView b = arena.take({7, 5}, DType::bf16);
    const TensorView c = arena.take({1}, DType::u8);
    for (const TensorView& view : {a, b, c})
      QCOMPARE(reinterpret_cast<std::uintptr_t>(view.data) % 64, std::uintptr_t{0});
    QVERIFY(a.as<char>() + a.bytes() <= b.as<char>());
    QVERIFY(b.as<char>() + b.bytes() <= c.as<char>());
    QCOMPARE(b.shape, (Shape{7, 5}));
  }

  void a_rewound_arena_hands_out_the_same_memory_again_and_keeps_its_peak() {
    CountingMemory memory;
    Arena arena(memory.allocate({256}, DType::u8));
    arena.take({16}, DType::f32);
    const std::size_t mark = arena.mark();
    const TensorView first = arena.take({32}, DType::f32);
    arena.rewind(mark);
    QCOMPARE(arena.take({8}, DType::f32).data, first.data);
    QCOMPARE(arena.peak_bytes(), std::size_t{192});
  }

  void a_full_arena_throws_and_stays_usable() {
    CountingMemory memory;
    Arena arena(memory.allocate({128}, DType::u8));
    arena.take({16}, DType::f32);
    QVERIFY(refuses([&] { arena.take({17}, DType::f32); }, ErrorCode::out_of_memory));
    QVERIFY(arena.take({16}, DType::f32));
  }

  void shapes_refuse_what_they_cannot_hold() {
    QVERIFY(refuses([] { Shape{1, 2, 3, 4, 5}; }, ErrorCode::invalid_argument));
    QVERIFY(refuses([] { Shape{2, -1}; }, ErrorCode::invalid_argument));
    QCOMPARE(Shape{}.elements(), std::int64_t{1});
    QCOMPARE((Shape{2, 0, 3}).elements(), std::int64_t{0});
  }

  void a_range_of_rows_points_into_its_tensor() {
    CountingMemory memory;
    const Tensor owner = memory.allocate({4, 3}, DType::f32);
    const TensorView part = owner.view().row_range(1, 2);
    QCOMPARE(part.as<float>(), owner.view().as<float>() + 3);
    QCOMPARE(part.shape, (Shape{2, 3}));
    QVERIFY(refuses([&] { owner.view().row_range(3, 2); }, ErrorCode::invalid_argument));
    QVERIFY(refuses([&] { owner.view().row_range(-1, 2); }, ErrorCode::invalid_argument));
    QCOMPARE(owner.view().reshaped({12}).shape, Shape{12});
    QVERIFY(refuses([&] { owner.view().reshaped({13}); }, ErrorCode::invalid_argument));
  }
};

QTEST_GUILESS_MAIN(TestMemory)
#include "test_memory.moc"
