// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <numeric>
#include <set>

#include "core/data/dataset.h"
#include "core/data/packing.h"
#include "kernels/base/error.h"
#include "kernels/base/random.h"

using namespace lorikeet;

namespace {

TokenRow row_of(std::int64_t number, std::size_t length) {
  TokenRow row;
  row.number = number;
  for (std::size_t i = 0; i < length; ++i)
    row.ids.push_back(static_cast<TokenId>(number * 1000 + static_cast<std::int64_t>(i)));
  row.targets.assign(row.ids.begin() + 1, row.ids.end());
  row.targets.push_back(-1);
  row.trained_tokens = static_cast<std::int64_t>(length) - 1;
  return row;
}

std::vector<TokenRow> random_rows(std::int64_t count, std::uint64_t longest) {
  RandomStream random({.seed = 11, .use = RandomUse::test});
  std::vector<TokenRow> rows;
  for (std::int64_t i = 0; i < count; ++i) rows.push_back(row_of(i + 1, 2 + random.next_below(longest - 1)));
  return rows;
}

}  // namespace

class TestPacking : public QObject {
  Q_OBJECT

 private slots:
  void an_epoch_order_is_a_permutation_that_seed_and_epoch_decide() {
    const auto order = epoch_order(1000, 3407, 0, true);
    std::vector<std::int64_t> sorted = order;
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::int64_t> plain(1000);
    std::iota(plain.begin(), plain.end(), 0);
    QVERIFY(sorted == plain);
    QVERIFY(order != plain);
    QVERIFY(order == epoch_order(1000, 3407, 0, true));
    QVERIFY(order != epoch_order(1000, 3407, 1, true));
    QVERIFY(order != epoch_order(1000, 3408, 0, true));
    QVERIFY(epoch_order(1000, 3407, 5, false) == plain);
    QVERIFY(epoch_order(0, 1, 0, true).empty());
  }

  void an_epoch_order_is_uniform() {
    // Each of 4 rows should be first in a quarter of many epochs: within 5 standard deviations of 2,500 of
    // 10,000.
    std::array<int, 4> first{};
    for (std::int64_t epoch = 0; epoch < 10'000; ++epoch)
      ++first[static_cast<std::size_t>(epoch_order(4, 9, epoch, true)[0])];
    for (const int count : first) QVERIFY(std::abs(count - 2500) < 217);
  }

  void a_split_parts_the_rows_data() {
    QTest::addColumn<qint64>("rows");
    QTest::addColumn<double>("fraction");
    QTest::addColumn<qint64>("evaluation");
    QTest::newRow("one percent of 999") << qint64{999} << 0.01 << qint64{10};
    QTest::newRow("at least one") << qint64{10} << 0.01 << qint64{1};
    QTest::newRow("at least one left") << qint64{2} << 0.99 << qint64{1};
    QTest::newRow("none") << qint64{100} << 0.0 << qint64{0};
    QTest::newRow("a single row") << qint64{1} << 0.5 << qint64{0};
    QTest::newRow("no rows") << qint64{0} << 0.5 << qint64{0};
    QTest::newRow("half") << qint64{7} << 0.5 << qint64{4};
  }
  void a_split_parts_the_rows() {
    QFETCH(qint64, rows);
    QFETCH(double, fraction);
    QFETCH(qint64, evaluation);
    const Split split = split_rows(rows, fraction, 3407);
    QCOMPARE(std::ssize(split.evaluation), evaluation);
    QVERIFY(std::is_sorted(split.train.begin(), split.train.end()));
    QVERIFY(std::is_sorted(split.evaluation.begin(), split.evaluation.end()));
    std::set<std::int64_t> all(split.train.begin(), split.train.end());
    all.insert(split.evaluation.begin(), split.evaluation.end());
    QCOMPARE(std::ssize(all), rows);
    QCOMPARE(std::ssize(split.train) + std::ssize(split.evaluation), rows);
    QVERIFY(split_rows(rows, fraction, 3407).evaluation == split.evaluation);
  }

  void another_seed_splits_otherwise_and_a_wrong_fraction_is_refused() {
    QVERIFY(split_rows(999, 0.1, 1).evaluation != split_rows(999, 0.1, 2).evaluation);
    QVERIFY_EXCEPTION_THROWN(split_rows(10, 1.0, 1), Error);
    QVERIFY_EXCEPTION_THROWN(split_rows(10, -0.1, 1), Error);
    QVERIFY_EXCEPTION_THROWN(split_rows(10, std::nan(""), 1), Error);
  }

  void without_packing_rows_keep_their_order_data() {
    QTest::addColumn<int>("batch_size");
    QTest::addColumn<int>("micro_batches");
    QTest::newRow("1") << 1 << 7;
    QTest::newRow("2, the last one short") << 2 << 4;
    QTest::newRow("8") << 8 << 1;
  }
  void without_packing_rows_keep_their_order() {
    QFETCH(int, batch_size);
    QFETCH(int, micro_batches);
    const auto rows = random_rows(7, 50);
    const auto order = epoch_order(7, 1, 0, true);
    const BatchPlan plan = plan_batches(rows, order, batch_size, 10, false);
    QCOMPARE(static_cast<int>(plan.micro_batches.size()), micro_batches);
    std::vector<std::int64_t> flat;
    for (const auto& batch : plan.micro_batches) flat.insert(flat.end(), batch.begin(), batch.end());
    QVERIFY(flat == order);
  }

  void packing_puts_rows_where_they_fit_best() {
    // Longest first: 6 opens a bin, 5 opens a bin, 4 fits the first exactly, 3 leaves 2 in the second, 2
    // fills it.
    const std::vector<TokenRow> rows = {row_of(1, 3), row_of(2, 6), row_of(3, 2), row_of(4, 4), row_of(5, 5)};
    const BatchPlan plan = plan_batches(rows, {0, 1, 2, 3, 4}, 1, 10, true);
    const std::vector<std::vector<std::int64_t>> expected = {{1, 3}, {0, 2, 4}};
    QVERIFY(plan.micro_batches == expected);
    QVERIFY(plan_batches(rows, {0, 1, 2, 3, 4}, 2, 10, true).micro_batches ==
            (std::vector<std::vector<std::int64_t>>{{1, 3, 0, 2, 4}}));
  }

  void packing_loses_no_row_and_fills_no_bin_over_its_limit() {
    const auto rows = random_rows(3000, 256);
    const auto order = epoch_order(3000, 3407, 2, true);
    const BatchPlan plan = plan_batches(rows, order, 1, 256, true);
    std::set<std::int64_t> seen;
    std::int64_t tokens = 0;
    for (const auto& bin : plan.micro_batches) {
      std::size_t length = 0;
      for (const std::int64_t index : bin) {
        QVERIFY(seen.insert(index).second);
        length += rows[static_cast<std::size_t>(index)].ids.size();
      }
      QVERIFY(length > 0 && length <= 256);
      tokens += static_cast<std::int64_t>(length);
    }
    QCOMPARE(seen.size(), rows.size());
    // Lengths are uniform over 2 to 256, so best fit leaves few gaps.
    QVERIFY(static_cast<double>(tokens) / (256.0 * static_cast<double>(plan.micro_batches.size())) > 0.97);
    QVERIFY(plan.micro_batches == plan_batches(rows, order, 1, 256, true).micro_batches);
    QVERIFY(plan.micro_batches !=
            plan_batches(rows, epoch_order(3000, 3407, 3, true), 1, 256, true).micro_batches);
  }

  void packed_bins_mix_long_and_short_rows_over_the_epoch() {
    const auto rows = random_rows(3000, 256);
    const BatchPlan plan = plan_batches(rows, epoch_order(3000, 7, 0, true), 1, 256, true);
    const std::size_t half = plan.micro_batches.size() / 2;
    double first = 0, second = 0;
    for (std::size_t i = 0; i < 2 * half; ++i)
      (i < half ? first : second) += static_cast<double>(plan.micro_batches[i].size());
    QVERIFY2(std::abs(first - second) / (first + second) < 0.1,
             qPrintable(QString("%1 %2").arg(first).arg(second)));
  }

  void rows_that_cannot_be_packed_are_named() {
    const std::vector<TokenRow> rows = {row_of(17, 11)};
    try {
      plan_batches(rows, {0}, 1, 10, true);
      QFAIL("it was packed");
    } catch (const Error& error) {
      QCOMPARE(error.where(), std::string("row 17"));
    }
    QVERIFY_EXCEPTION_THROWN(plan_batches(rows, {1}, 1, 10, false), Error);
    QVERIFY_EXCEPTION_THROWN(plan_batches(rows, {0}, 0, 10, false), Error);
  }

  void a_batch_lays_rows_end_to_end_and_none_sees_the_next() {
    const std::vector<TokenRow> rows = {row_of(1, 3), row_of(2, 2), row_of(3, 4)};
    const TokenBatch batch = make_batch(rows, {2, 0});
    QVERIFY(batch.ids == (std::vector<TokenId>{3000, 3001, 3002, 3003, 1000, 1001, 1002}));
    QVERIFY(batch.targets == (std::vector<TokenId>{3001, 3002, 3003, -1, 1001, 1002, -1}));
    QVERIFY(batch.positions == (std::vector<std::int32_t>{0, 1, 2, 3, 0, 1, 2}));
    QVERIFY(batch.cu_seqlens == (std::vector<std::int32_t>{0, 4, 7}));
    QVERIFY(batch.rows == (std::vector<std::int64_t>{3, 1}));
    QCOMPARE(batch.longest, 4);
    QCOMPARE(batch.trained_tokens, 5);
  }
};

QTEST_GUILESS_MAIN(TestPacking)
#include "test_packing.moc"
