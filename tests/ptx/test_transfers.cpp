// SPDX-License-Identifier: Apache-2.0
// Transfers, recordings and running out of memory of the CUDA back end, on emulated streams whose work runs
// in an order that changes with the seed.
#include <QtTest>
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "kernels/base/error.h"
#include "kernels/cuda/cuda_backend.h"
#include "kernels/cuda/cuda_loader.h"
#include "tests/kernels/op_support.h"
#include "tests/kernels/transfer_program.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;
using transfers::Numbers;
using transfers::random_numbers;
using transfers::read;

namespace {

constexpr std::int64_t count = transfers::length;
constexpr std::uint64_t seeds = 40;
/// A fresh card with a back end.
class Card {
 public:
  explicit Card(std::uint64_t seed = 1) {
    ptx::restart();
    ptx::set_seed(seed);
    backend_ = make_cuda_backend({});
  }
  Backend& operator*() const { return *backend_; }
  Backend* operator->() const { return backend_.get(); }
  cuda::CudaBackend& cuda() const { return static_cast<cuda::CudaBackend&>(*backend_); }

  Tensor tensor(const Numbers& numbers) const {
    Tensor tensor = backend_->allocate({static_cast<std::int64_t>(numbers.size())}, DType::f32);
    backend_->upload(tensor, numbers.data());
    return tensor;
  }
  Numbers read(const TensorView& view) const {
    Numbers numbers(static_cast<std::size_t>(view.elements()));
    backend_->download(numbers.data(), view);
    return numbers;
  }
  std::unique_ptr<HostBuffer> buffer(const Numbers& numbers) const {
    auto buffer = backend_->allocate_host(numbers.size() * sizeof(float));
    std::memcpy(buffer->data(), numbers.data(), buffer->bytes());
    return buffer;
  }

 private:
  std::unique_ptr<Backend> backend_;
};

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

  void repeated_work_is_recorded_once() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 0.0f)), one = card.tensor(Numbers(count, 1.0f));
    int given = 0;
    for (int i = 1; i <= 6; ++i) {
      card->repeat(7, [&] {
        ++given;
        card->add(x, one);
        card->repeat(8, [&] { card->add(x, one); });  // part of the recording around it
      });
      QVERIFY(card.read(x) == Numbers(count, static_cast<float>(2 * i)));
    }
    QCOMPARE(given, 2);
    card->forget_repeats();
    card->repeat(7, [&] { card->fill_zero(x); });  // the key may mean other work now
    QVERIFY(card.read(x) == Numbers(count, 0.0f));
  }

  void what_cannot_be_recorded_stays_eager() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 0.0f)), y = card.tensor(Numbers(count, 0.0f));
    const auto buffer = card->allocate_host(count * sizeof(float));
    Numbers fresh(count);
    const std::vector<std::function<void()>> obstacles = {
        [&] { card->upload(x, fresh.data()); }, [&] { (void)card.read(x); },
        [&] { card->synchronize(); },           [&] { card->wait(*buffer); },
        [&] { (void)card->arrived(*buffer); },  [&] { (void)card.tensor(fresh); },
        [&] { (void)card->allocate_host(64); }, [&] { card->forget_repeats(); },
    };
    for (std::size_t which = 0; which < obstacles.size(); ++which) {
      for (int i = 1; i <= 4; ++i) {
        fresh.assign(count, static_cast<float>(i));
        card->fill_zero(y);
        card->upload(x, fresh.data());
        card->repeat(100 + which, [&] {
          card->add(y, x);
          card->download_later(*buffer, y);
          obstacles[which]();
          card->order_after(*buffer);
        });
        QVERIFY2(card.read(y) == fresh, qPrintable(QString("obstacle %1, call %2").arg(which).arg(i)));
      }
    }
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void an_error_in_repeated_work_is_the_callers() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 1.0f)), narrow = card.tensor(Numbers(3, 1.0f));
    for (int i = 0; i < 4; ++i) {
      QVERIFY(throws(
          [&] {
            card->repeat(1, [&] {
              card->add(x, i == 0 ? x : narrow);
              card->add(x, narrow);
            });
          },
          ErrorCode::invalid_argument));
    }
    card->repeat(2, [&] { card->add(x, x); });
    QVERIFY(!card.read(x).empty());
  }

  void memory_given_back_inside_repeated_work_is_safe() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 1.0f));
    for (int i = 1; i <= 4; ++i) {
      std::optional<Tensor> other(card.tensor(Numbers(count, 1.0f)));
      card->repeat(3, [&] {
        if (other) card->add(x, *other);
        if (i == 2) other.reset();
      });
    }
    (void)card.read(x);
    QCOMPARE(card->budget().used_bytes(), std::uint64_t{count * sizeof(float)});
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void recordings_go_with_the_scratch_they_name() {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      const Card card(seed);
      const Tensor x = card.tensor(Numbers(count, 1.0f)), y = card.tensor(Numbers(count, 0.0f));
      float total = 0;
      const auto through_scratch = [&](std::int64_t elements) {
        const TensorView middle{card.cuda().scratch().get(elements * 4), DType::f32, {count}};
        card->copy(middle, x);
        card->add(y, middle);
      };
      // Growing between recordings, and inside one (the second call of key 2 asks for more).
      const std::vector<std::pair<std::uint64_t, std::int64_t>> calls = {
          {1, 100}, {1, 100}, {1, 100},   {2, 100}, {2, 5000}, {1, 100}, {2, 5000},
          {1, 100}, {1, 100}, {3, 90000}, {1, 100}, {2, 5000}, {1, 100}, {2, 5000}};
      for (const auto& [key, elements] : calls) {
        card->repeat(key, [&, elements = elements] { through_scratch(elements); });
        total += 1;
        if (seed % 2) QVERIFY(card.read(y) == Numbers(count, total));
      }
      QVERIFY(card.read(y) == Numbers(count, total));
      QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
    }
  }

  void many_keys_are_bounded() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 0.0f)), one = card.tensor(Numbers(count, 1.0f));
    for (std::uint64_t key = 0; key < 600; ++key) {
      for (int i = 0; i < (key % 3 == 0 ? 3 : 1); ++i) card->repeat(key, [&] { card->add(x, one); });
    }
    card->repeat(0, [&] { card->add(x, one); });
    QVERIFY(card.read(x) == Numbers(count, 1001.0f));
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
