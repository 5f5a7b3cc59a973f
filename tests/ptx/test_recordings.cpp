// SPDX-License-Identifier: Apache-2.0
// Repeated work of the CUDA back end: what is recorded, how often, and what stays eager.
#include <QtTest>
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "tests/kernels/op_support.h"
#include "tests/kernels/transfer_program.h"
#include "tests/ptx/card.h"
#include "tests/ptx/control.h"

using namespace lorikeet;
using namespace lorikeet::testing;
using transfers::Numbers;
using transfers::read;

namespace {

constexpr std::int64_t count = transfers::length;

}  // namespace

class TestRecordings : public QObject {
  Q_OBJECT

 private slots:
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

  void offloaded_layers_of_several_shapes_are_all_recorded() {
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 0.0f)), one = card.tensor(Numbers(count, 1.0f));
    int given = 0;
    for (int step = 0; step < 4; ++step) {
      for (std::uint64_t key = 0; key < 3 * 2 * 80; ++key) {
        card->repeat(key, [&] {
          ++given;
          card->add(x, one);
        });
      }
    }
    QVERIFY(card.read(x) == Numbers(count, 4.0f * 480));
    QCOMPARE(given, 2 * 480);
  }

  void recordings_are_bounded_by_their_operations() {
    const Card card;
    const Tensor x = card.tensor(Numbers(1, 1.0f));
    std::vector<int> given(8);
    const auto layer = [&](std::size_t key) {
      card->repeat(key, [&, key] {
        ++given[key];
        for (int i = 0; i < 8000; ++i) card->fill_zero(x);
      });
    };
    for (int step = 0; step < 3; ++step) {
      for (std::size_t key = 0; key < 5; ++key) layer(key);
    }
    // Four find room; the fifth takes no place of theirs, and is not recorded in vain again and again.
    QVERIFY((given == std::vector<int>{2, 2, 2, 2, 4, 0, 0, 0}));
    for (int step = 0; step < 2; ++step) {
      for (const std::size_t key : {5, 1, 2, 3}) layer(key);
    }
    QVERIFY((given == std::vector<int>{2, 2, 2, 2, 4, 2, 0, 0}));  // in the place of the first
    layer(0);
    QCOMPARE(given[0], 3);
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void a_recording_without_memory_stays_eager_until_recordings_are_forgotten_data() {
    QTest::addColumn<int>("allocation");
    QTest::newRow("instantiated") << 1;
    QTest::newRow("launched") << 2;
  }
  void a_recording_without_memory_stays_eager_until_recordings_are_forgotten() {
    QFETCH(int, allocation);
    const Card card;
    const Tensor x = card.tensor(Numbers(count, 0.0f)), one = card.tensor(Numbers(count, 1.0f));
    const auto buffer = card->allocate_host(count * sizeof(float));
    float wanted = 0;
    int given = 0;
    const auto add = [&](std::uint64_t key) {
      card->repeat(key, [&] {
        ++given;
        card->add(x, one);
        card->download_later(*buffer, x);
        card->order_after(*buffer);
      });
      card->wait(*buffer);
      ++wanted;
      return read(*buffer) == Numbers(count, wanted);
    };
    for (int i = 0; i < 3; ++i) QVERIFY(add(1));
    QVERIFY(add(2));
    ptx::fail_allocation(static_cast<std::uint64_t>(allocation));
    for (int i = 0; i < 3; ++i) QVERIFY(add(2));
    given = 0;
    for (int i = 0; i < 3; ++i) QVERIFY(add(1));
    QCOMPARE(given, 3);
    card->forget_repeats();
    for (int i = 0; i < 4; ++i) QVERIFY(add(1));
    QCOMPARE(given, 5);
    QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
  }

  void a_host_buffer_given_back_inside_repeated_work_is_safe() {
    for (const bool used_inside : {false, true}) {
      const Card card;
      const Tensor x = card.tensor(Numbers(count, 0.0f)), one = card.tensor(Numbers(count, 1.0f));
      (void)card.read(x);
      const std::size_t before = ptx::page_locked();
      for (int i = 1; i <= 4; ++i) {
        std::unique_ptr<HostBuffer> buffer = card.buffer(Numbers(count, 1.0f));
        card->upload_later(one, *buffer);
        card->order_after(*buffer);
        card->repeat(3, [&] {
          if (buffer && used_inside) {
            card->upload_later(one, *buffer);
            card->order_after(*buffer);
          }
          card->add(x, one);
          if (i == 2) buffer.reset();
        });
      }
      QVERIFY(card.read(x) == Numbers(count, 4.0f));
      QCOMPARE(ptx::page_locked(), before);
      QCOMPARE(QString::fromStdString(ptx::complaint()), QString());
    }
  }
};

QTEST_GUILESS_MAIN(TestRecordings)
#include "test_recordings.moc"
