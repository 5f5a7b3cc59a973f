// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>

#include "kernels/base/random.h"

using namespace lorikeet;
using Words = std::array<std::uint32_t, 4>;

class TestRandom : public QObject {
  Q_OBJECT
 private slots:
  // Known answers of philox4x32 with 10 rounds, published with Random123.
  void philox_gives_the_published_answers() {
    QCOMPARE(philox(0, 0, 0), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    constexpr std::uint64_t ones = ~std::uint64_t{0};
    QCOMPARE(philox(ones, ones, ones), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    QCOMPARE(philox(0x299f31d0a4093822, 0x85a308d3243f6a88, 0x0370734413198a2e),
             (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
  }

  void a_stream_is_a_function_of_its_key_and_position() {
    RandomStream a({.seed = 1, .epoch = 2, .row = 3, .layer = 4, .use = RandomUse::dropout});
    RandomStream b({.seed = 1, .epoch = 2, .row = 3, .layer = 4, .use = RandomUse::dropout});
    for (int i = 0; i < 5; ++i) QCOMPARE(a.next_bits(), b.bits_at(static_cast<std::uint64_t>(i)));
  }

  void keys_that_differ_in_one_part_give_other_streams() {
    std::set<std::uint32_t> first;
    first.insert(RandomStream({.seed = 1}).bits_at(0));
    first.insert(RandomStream({.epoch = 1}).bits_at(0));
    first.insert(RandomStream({.row = 1}).bits_at(0));
    first.insert(RandomStream({.layer = 1}).bits_at(0));
    first.insert(RandomStream({.seed = 1, .use = RandomUse::shuffle}).bits_at(0));
    QCOMPARE(first.size(), std::size_t{5});
  }

  void uniform_numbers_fill_zero_to_one() {
    RandomStream stream({.seed = 7});
    double sum = 0;
    std::array<int, 10> tenths{};
    for (int i = 0; i < 100000; ++i) {
      const double value = stream.next_uniform();
      QVERIFY(value >= 0 && value < 1);
      sum += value;
      ++tenths[static_cast<std::size_t>(value * 10)];
    }
    QVERIFY(std::fabs(sum / 100000 - 0.5) < 0.005);
    for (const int count : tenths)
      QVERIFY2(std::abs(count - 10000) < 500, qPrintable(QString::number(count)));
  }

  void normal_numbers_have_mean_0_variance_1_and_kurtosis_3() {
    RandomStream stream({.seed = 8});
    double sum = 0;
    double squares = 0;
    double fourths = 0;
    constexpr int count = 200000;
    for (int i = 0; i < count; ++i) {
      const double value = stream.next_normal();
      sum += value;
      squares += value * value;
      fourths += value * value * value * value;
    }
    QVERIFY(std::fabs(sum / count) < 0.01);
    QVERIFY(std::fabs(squares / count - 1) < 0.02);
    QVERIFY(std::fabs(fourths / count - 3) < 0.15);
  }

  void numbers_below_a_bound_reach_all_values_alike() {
    RandomStream stream({.seed = 9});
    std::array<int, 7> counts{};
    for (int i = 0; i < 70000; ++i) ++counts[stream.next_below(7)];
    for (const int count : counts)
      QVERIFY2(std::abs(count - 10000) < 500, qPrintable(QString::number(count)));
    for (int i = 0; i < 100; ++i) QCOMPARE(stream.next_below(1), std::uint64_t{0});
  }
};

QTEST_GUILESS_MAIN(TestRandom)
#include "test_random.moc"
