// SPDX-License-Identifier: Apache-2.0
// Transfers and running out of memory of the CUDA back end, on emulated streams whose work runs in an order
// that changes with the seed.
#include <QtTest>
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cuda_loader.h"
#include "tests/kernels/op_support.h"
#include "tests/kernels/transfer_program.h"
#include "tests/ptx/card.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;
using transfers::Numbers;
using transfers::random_numbers;
using transfers::read;

namespace {

constexpr std::int64_t count = transfers::length;
constexpr std::uint64_t seeds = 40;
/// A random program on a fresh card.
bool runs_right(std::uint64_t seed, bool repeated) {
  const Card card(seed);
  return transfers::runs_right(*card, seed, repeated) && ptx::complaint().empty();
}

}  // namespace

class TestTransfers : public QObject {
  Q_OBJECT

 private slots:
  void ordinary_memory_may_change_after_an_upload() {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      std::mt19937_64 random(seed);
      const Card card(seed);
      std::vector<Tensor> tensors;
      std::vector<Numbers> wanted;
      Numbers source;
      std::size_t bytes = 0;
      const Tensor x = card.tensor(Numbers(count, 0.0f));
      while (bytes < 3 * 8'388'608) {                  // three times round the ring
        for (int i = 0; i < 40; ++i) card->add(x, x);  // the device has something to do first
        const std::int64_t n =
            random() % 3 == 0 ? static_cast<std::int64_t>(random() % 800'000) : 1 + random() % 500;
        source.assign(static_cast<std::size_t>(n), static_cast<float>(random() % 1000));
        tensors.push_back(card.tensor(source));
        wanted.push_back(source);
        std::fill(source.begin(), source.end(), -1.0f);
        bytes += static_cast<std::size_t>(n) * 4;
      }
      for (std::size_t i = 0; i < tensors.size(); ++i) QVERIFY(card.read(tensors[i]) == wanted[i]);
    }
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void a_download_comes_after_the_work_before_it() {
    std::mt19937_64 random(1);
    const Card card;
    const std::int64_t n = (std::int64_t{5} << 20) / 4 + 3;  // two and a half pieces
    const Numbers numbers = random_numbers(random, n);
    const Tensor x = card.tensor(numbers);
    card->upload(x.view().row_range(0, 2), numbers.data() + 2);
    Numbers wanted = numbers;
    std::copy(numbers.begin() + 2, numbers.begin() + 4, wanted.begin());
    QVERIFY(card.read(x) == wanted);
    const Tensor none = card->allocate({0, 7}, DType::f32);
    QVERIFY(card.read(none).empty());
  }

  void the_main_work_waits_only_where_it_is_told() {
    int wrong_without = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      for (const bool orders : {true, false}) {
        const Card card(seed);
        const Numbers old_numbers(count, 1.0f), new_numbers(count, 2.0f);
        const Tensor x = card.tensor(old_numbers), y = card.tensor(new_numbers);
        const auto buffer = card.buffer(new_numbers);
        card->download_later(*buffer, x);
        if (orders) card->order_after(*buffer);
        card->copy(x, y);
        card->wait(*buffer);
        const bool right = read(*buffer) == old_numbers;
        if (orders) QVERIFY(right);
        wrong_without += orders || right ? 0 : 1;
      }
    }
    QVERIFY2(wrong_without > 0, "the test sees no difference");
  }

  void a_transfer_waits_for_the_work_before_it() {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const Card card(seed);
      const Numbers ones(count, 1.0f), twos(count, 2.0f);
      const Tensor x = card.tensor(ones), y = card.tensor(twos), z = card.tensor(twos);
      const auto buffer = card.buffer(twos), result = card.buffer(ones);
      card->copy(z, x);  // reads the old x
      card->upload_later(x, *buffer);
      card->order_after(*buffer);
      card->add(y, x);
      card->download_later(*result, y);
      card->wait(*result);
      QVERIFY(read(*result) == Numbers(count, 4.0f));
      QVERIFY(card.read(z) == ones);
    }
  }

  void a_buffer_arrives_without_being_waited_for() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 5.0f));
    const auto buffer = card->allocate_host(count * sizeof(float));
    QVERIFY(card->arrived(*buffer));  // nothing is under way
    card->wait(*buffer);
    card->download_later(*buffer, x);
    int asked = 0;
    while (!card->arrived(*buffer) && asked < 1000) ++asked;
    QVERIFY(asked < 1000);
    QVERIFY(read(*buffer) == Numbers(count, 5.0f));
  }

  void wrong_operands_are_refused() {
    const Card card;
    const Tensor x = card->allocate({8, 4}, DType::f32);
    const auto small = card->allocate_host(16);
    QVERIFY(throws([&] { card->download_later(*small, x); }, ErrorCode::invalid_argument));
    QVERIFY(throws([&] { card->upload_later(x, *small); }, ErrorCode::invalid_argument));
    const TensorView gaps = x.view().column_range(1, 2);
    QVERIFY(throws([&] { card->upload(gaps, small->data()); }, ErrorCode::invalid_argument));
    QVERIFY(throws([&] { card->download(small->data(), gaps); }, ErrorCode::invalid_argument));
    class Foreign final : public HostBuffer {
      void* data() override { return nullptr; }
      std::size_t bytes() const override { return 1 << 20; }
    } foreign;
    QVERIFY(throws([&] { card->wait(foreign); }, ErrorCode::invalid_argument));
  }

  void random_programs_give_what_they_must() {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      QVERIFY2(runs_right(seed, false), qPrintable(QString::number(seed)));
  }
  void repeated_programs_give_what_they_must() {
    for (std::uint64_t seed = 1; seed <= seeds; ++seed)
      QVERIFY2(runs_right(seed, true), qPrintable(QString::number(seed)));
  }

  void running_out_of_memory_anywhere_is_survived() {
    std::mt19937_64 random(3);
    const Numbers numbers = random_numbers(random);
    const auto scenario = [&](Backend& backend) {
      const Tensor x = backend.allocate({count}, DType::f32), y = backend.allocate({count}, DType::f32);
      const auto buffer = backend.allocate_host(count * sizeof(float));
      backend.upload(x, numbers.data());
      Numbers result(count);
      for (int i = 0; i < 3; ++i) {
        backend.repeat(1, [&] {
          (void)static_cast<cuda::CudaBackend&>(backend).scratch().get(4096);
          backend.copy(y, x);
          backend.download_later(*buffer, y);
          backend.order_after(*buffer);
        });
      }
      backend.download(result.data(), y);
      backend.wait(*buffer);
      backend.forget_repeats();
      return result == numbers && read(*buffer) == numbers;
    };
    int refused = 0;
    for (std::uint64_t n = 1;; ++n) {
      const Card card;
      const std::uint64_t before = ptx::allocations();
      ptx::fail_allocation(n);
      bool failed = false;
      try {
        QVERIFY(scenario(*card));
      } catch (const Error& error) {
        QCOMPARE(error.code(), ErrorCode::out_of_memory);
        failed = true;
        ++refused;
        card->forget_repeats();  // its tensors are gone
      }
      const bool reached = ptx::allocations() - before >= n;
      ptx::fail_allocation(0);
      const std::uint64_t kept = card->budget().used_bytes();
      QVERIFY(kept == 0 || kept == 4096);  // scratch alone
      QVERIFY(scenario(*card));
      QCOMPARE(card->budget().used_bytes(), std::uint64_t{4096});
      if (!failed && !reached) break;
      QVERIFY(n < 100);
    }
    QVERIFY(refused >= 5);  // two tensors, the buffer, both stagings, scratch
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void a_card_that_is_full_says_so() {
    const Card card;
    ptx::set_memory_limit(ptx::memory_used() + 100'000);
    const std::uint64_t before = card->budget().used_bytes();
    QVERIFY(throws([&] { (void)card->allocate({1 << 20}, DType::f32); }, ErrorCode::out_of_memory));
    QCOMPARE(card->budget().used_bytes(), before);
    (void)card.tensor(Numbers(count, 1.0f));
  }

  void a_limit_is_kept() {
    ptx::restart();
    const auto backend = make_cuda_backend({.device = "cuda", .threads = 0, .memory_limit_bytes = 1000});
    QVERIFY(throws([&] { (void)backend->allocate({1001}, DType::u8); }, ErrorCode::out_of_memory));
    (void)backend->allocate({1000}, DType::u8);
  }

  void after_a_device_error_every_call_says_so() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 1.0f));
    TensorView nowhere = x.view();
    nowhere.data = x.view().as<float>() + (std::int64_t{1} << 24);
    card->add(x, nowhere);
    for (int i = 0; i < 2; ++i) {
      try {
        card->synchronize();
        QFAIL("no error");
      } catch (const Error& error) {
        QCOMPARE(error.code(), ErrorCode::device);
        QVERIFY2(error.hint().find("last checkpoint") != std::string::npos, error.what());
      }
    }
    QVERIFY(throws([&] { (void)card.read(x); }, ErrorCode::device));
    QVERIFY(!ptx::complaint().empty());
  }

  void another_thread_may_go_on() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 1.0f));
    Numbers result;
    std::thread([&] {
      card->add(x, x);
      result = card.read(x);
    }).join();
    QVERIFY(result == Numbers(count, 2.0f));
  }
};

QTEST_GUILESS_MAIN(TestTransfers)
#include "test_transfers.moc"
